import { useState } from 'preact/hooks';
import { referenceOf } from '../engine/protocol.js';
import { focusSoon } from '../focus.js';
import { type Draft, type Place, resultOf } from '../request/draft.js';
import { addItem, addStep, withItem } from '../request/edit.js';
import { issuesAt, useWorkbench } from '../state.js';
import { Problems } from './fields.js';
import { type Choice, Palette } from './palette.js';
import { addRecipe } from './recipes.js';
import { StepCard, stepSelector } from './step-card.js';

/** Where the step that is being chosen goes; into an item of its own if undefined. */
type Target = { readonly after: Place | undefined };

/** The request as lists of steps, one for each result. */
export function PipelinePanel() {
  const { state, view, act } = useWorkbench();
  const { draft } = state;
  const [target, setTarget] = useState<Target>();
  const edit = (next: Draft): void => act({ type: 'edited', draft: next });
  const source = referenceOf(state.sets[0]?.series[0] ?? { timeseriesId: 'series', metric: 'Raw' });
  const choose = (choice: Choice): void => {
    const after = target?.after;
    if ('recipe' in choice)
      edit(addRecipe(draft, choice.recipe, after === undefined ? source : resultOf(draft, after)));
    else if (after === undefined) edit(addItem(draft, choice.operation, choice.parameters, source));
    else edit(addStep(draft, after, choice.operation, choice.parameters, source));
    setTarget(undefined);
    const isOwn = after === undefined || 'recipe' in choice;
    focusSoon(stepSelector(isOwn ? { item: draft.length, step: 0 } : { ...after, step: after.step + 1 }));
  };
  return (
    <section class="panel" aria-labelledby="pipeline-title">
      <div class="row">
        <h2 id="pipeline-title">Pipeline</h2>
        <span class="spring" />
        <button type="button" disabled={state.past.length === 0} onClick={() => act({ type: 'undo' })}>
          Undo
        </button>
        <button type="button" disabled={state.future.length === 0} onClick={() => act({ type: 'redo' })}>
          Redo
        </button>
      </div>
      <Problems issues={view.checked.issues.filter(({ pointer }) => pointer === '')} />
      {draft.map((item, index) => (
        <section class="item" key={index} aria-label={`Result ${item.metric}`}>
          <ItemHead index={index} />
          <ol class="steps">
            {item.operations.map((_, at) => (
              <StepCard
                key={at}
                place={{ item: index, step: at }}
                onInsert={() => setTarget({ after: { item: index, step: at } })}
              />
            ))}
          </ol>
          <button type="button" onClick={() => setTarget({ after: { item: index, step: item.operations.length - 1 } })}>
            Add step
          </button>
        </section>
      ))}
      <button
        type="button"
        class={draft.length === 0 && state.sets.length > 0 ? 'primary' : ''}
        onClick={() => setTarget({ after: undefined })}
      >
        {draft.length === 0 ? 'Add the first step' : 'Add another result'}
      </button>
      {state.answer.problem !== undefined && (
        <p class="problems" role="alert">
          {state.answer.problem}
        </p>
      )}
      {target !== undefined && (
        <Palette title="Choose an operation" onChoose={choose} onClose={() => setTarget(undefined)} />
      )}
    </section>
  );
}

const FREQUENCIES = ['PT15M', 'PT1H', 'PT24H'];

function ItemHead({ index }: { readonly index: number }) {
  const { state, view } = useWorkbench();
  const { issues } = view.checked;
  return (
    <>
      <div class="row item-head">
        <h3>{state.draft[index]!.metric || 'Result'}</h3>
        <span class="spring" />
        <ProcessingField index={index} />
      </div>
      <Problems
        issues={[...issuesAt(issues, `/${index}/processingType`), ...issuesAt(issues, `/${index}/frequency`)]}
      />
    </>
  );
}

/** When the service computes a result: once, at intervals, or with each sample. */
export function ProcessingField({ index, isNamed = false }: { readonly index: number; readonly isNamed?: boolean }) {
  const { state, act } = useWorkbench();
  const { metric, processingType, frequency } = state.draft[index]!;
  const change = (type: string, often: string): void => {
    act({
      type: 'edited',
      draft: withItem(state.draft, index, ({ frequency: _, ...item }) => ({
        ...item,
        processingType: type,
        ...(often === '' ? {} : { frequency: often }),
      })),
    });
  };
  return (
    <label class="inline">
      <span class={isNamed ? '' : 'hidden'}>How the service computes {metric}</span>
      <select
        value={`${processingType.toLowerCase()} ${frequency ?? ''}`}
        onChange={({ currentTarget: { value } }) => {
          const [type = '', often = ''] = value.split(' ');
          change(type, often);
        }}
      >
        <option value="batch ">batch, once</option>
        {FREQUENCIES.map((often) => (
          <option key={often} value={`batch ${often}`}>
            batch, every {often}
          </option>
        ))}
        <option value="stream ">stream, with each sample</option>
      </select>
    </label>
  );
}
