import { useId, useMemo, useState } from 'preact/hooks';
import type { Issue, SeriesReference } from '../../index.js';
import { type OperationInfo, operations } from '../../inspect/index.js';
import { DataTable } from '../chart/data-table.js';
import { Spark } from '../chart/spark.js';
import { colourVariable } from '../chart/theme.js';
import { keyOf, nameOf, referenceOf } from '../engine/protocol.js';
import { focusSoon } from '../focus.js';
import {
  type Draft,
  type DraftStep,
  isSame,
  type Place,
  patternsOf,
  placesOf,
  pointerOf,
  resultOf,
} from '../request/draft.js';
import {
  ALIGNING,
  changeInput,
  changeOperation,
  changeStep,
  removeStep,
  renameResult,
  swapSteps,
  takesScalar,
} from '../request/edit.js';
import { issuesAt, loadedSeries, useWorkbench } from '../state.js';
import { ParameterFields, Problems, Words } from './fields.js';

/** The CSS selector of a step. */
export function stepSelector(place: Place): string {
  return `[data-pointer="${pointerOf(place)}"]`;
}

/** One step: its form, what is wrong with it, and its result as a small chart. */
export function StepCard({ place, onInsert }: { readonly place: Place; readonly onInsert: () => void }) {
  const { state, view, act } = useWorkbench();
  const { draft } = state;
  const step = draft[place.item]!.operations[place.step]!;
  const pointer = pointerOf(place);
  const info = operations.get(step.operation);
  const { issues } = view.checked;
  const edit = (next: Draft): void => act({ type: 'edited', draft: next });
  const title = `Step ${place.step + 1}, ${step.operation}`;
  return (
    <li class="step" aria-label={title} data-pointer={pointer} tabIndex={-1}>
      <StepHead place={place} title={title} onInsert={onInsert} />
      {info === undefined ? (
        <Problems issues={issuesAt(issues, `${pointer}/operation`)} />
      ) : (
        <p class="summary">
          <Words text={info.summary} />
        </p>
      )}
      <StepResult pointer={pointer} />
      <div class="fields">
        <Inputs place={place} />
        {info !== undefined && (
          <ParameterFields
            key={step.operation}
            schema={info.parameters}
            parameters={step.parameters}
            pointer={`${pointer}/parameters`}
            issues={issues}
            hidden={step.input.length > 1 ? ['scalar'] : takesScalar(step.operation) ? ALIGNING : []}
            onParameters={(parameters) => edit(changeStep(draft, place, { parameters }))}
          />
        )}
        <ResultName place={place} />
        <Problems issues={unplaced(issues, pointer, Object.keys(Object(info?.parameters.properties)))} />
      </div>
    </li>
  );
}

// Problems of the step that none of its fields shows.
function unplaced(issues: readonly Issue[], pointer: string, names: readonly string[]): readonly Issue[] {
  const shown = [
    ...names.map((name) => `${pointer}/parameters/${name}`),
    `${pointer}/input`,
    `${pointer}/output`,
    `${pointer}/operation`,
  ];
  return issuesAt(issues, pointer).filter(
    (issue) => !shown.some((place) => issue.pointer === place || issue.pointer.startsWith(`${place}/`)),
  );
}

function StepHead({
  place,
  title,
  onInsert,
}: {
  readonly place: Place;
  readonly title: string;
  readonly onInsert: () => void;
}) {
  const { state, act } = useWorkbench();
  const { draft } = state;
  const { operation } = draft[place.item]!.operations[place.step]!;
  const isLast = place.step === draft[place.item]!.operations.length - 1;
  const edit = (next: Draft): void => act({ type: 'edited', draft: next });
  const move = (by: 1 | -1): void => {
    const to = { ...place, step: place.step + by };
    edit(swapSteps(draft, by > 0 ? place : to));
    // Focus stays on the same button of the moved step.
    focusSoon(`${stepSelector(to)} .step-head button:nth-of-type(${by > 0 ? 2 : 1})`, stepSelector(to));
  };
  return (
    <div class="step-head">
      <span class="number-mark" aria-hidden>
        {place.step + 1}
      </span>
      <select
        class="operation"
        aria-label={`Operation of step ${place.step + 1}`}
        value={operation}
        onChange={({ currentTarget: { value } }) => edit(changeOperation(draft, place, value))}
      >
        {!operations.has(operation) && <option value={operation}>{operation}</option>}
        {[...operations.keys()].map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <span class="spring" />
      <DrawToggle reference={resultOf(draft, place)} pointer={pointerOf(place)} />
      <button
        type="button"
        class="small"
        aria-label={`${title}: move up`}
        disabled={place.step === 0}
        onClick={() => move(-1)}
      >
        ↑
      </button>
      <button type="button" class="small" aria-label={`${title}: move down`} disabled={isLast} onClick={() => move(1)}>
        ↓
      </button>
      <button type="button" class="small" aria-label={`${title}: add a step after it`} onClick={onInsert}>
        +
      </button>
      <button
        type="button"
        class="small"
        aria-label={`${title}: remove`}
        onClick={() => edit(removeStep(draft, place))}
      >
        ×
      </button>
    </div>
  );
}

interface ToggleProps {
  readonly reference: SeriesReference;
  /** The step that gives it; for a pattern one for each member. */
  readonly pointer?: string;
}

/** Whether a series is on the large chart. */
export function DrawToggle({ reference, pointer: at = '' }: ToggleProps) {
  const { view, act } = useWorkbench();
  const series = view.series.filter(({ info, pointer }) => pointer === at || isSame(info, reference));
  const [shown] = series;
  if (shown === undefined) return null;
  return (
    <label class="draw" title="On the large chart">
      <input
        type="checkbox"
        checked={shown.isDrawn}
        style={{ accentColor: colourVariable(shown.colour) }}
        onChange={({ currentTarget: { checked: isDrawn } }) => {
          for (const { info } of series) act({ type: 'draw', series: info, isDrawn });
        }}
      />
      <span class="hidden">Draw {nameOf(reference)} on the large chart</span>
    </label>
  );
}

function Inputs({ place }: { readonly place: Place }) {
  const { state, view, act } = useWorkbench();
  const { draft } = state;
  const step = draft[place.item]!.operations[place.step]!;
  const info = operations.get(step.operation);
  const own = resultOf(draft, place);
  const loaded = useMemo(() => loadedSeries(state.sets).map(({ info: one }) => referenceOf(one)), [state.sets]);
  const patterns = useMemo(() => patternsOf(loaded), [loaded]);
  const results = placesOf(draft).map((other) => resultOf(draft, other));
  const choices = [loaded, results.filter((one) => !isSame(one, own)), patterns];
  const pointer = `${pointerOf(place)}/input`;
  const { issues } = view.checked;
  // A parameter asks for more inputs than there are.
  const isSecondWanted = issuesAt(issues, `${pointerOf(place)}/parameters`).some(
    ({ code }) => code === 'request.inputs',
  );
  const { least, most } = inputsOf(step, info?.inputs, isSecondWanted);
  return (
    <>
      {Array.from({ length: most }, (_, index) => (
        <InputField
          key={index}
          label={most < 2 ? 'input' : `input ${index + 1}`}
          value={step.input[index]}
          choices={choices}
          none={index < least ? undefined : index === 1 && takesScalar(step.operation) ? 'none: a scalar' : 'none'}
          issues={issuesAt(issues, `${pointer}/${index}`)}
          onChoose={(chosen) => act({ type: 'edited', draft: changeInput(draft, place, index, chosen) })}
        />
      ))}
      <Problems issues={issues.filter((issue) => issue.pointer === pointer)} />
    </>
  );
}

/** How many inputs a step needs, and for how many it has fields: for one that it can do without, too. */
function inputsOf({ input }: DraftStep, inputs: OperationInfo['inputs'] | undefined, isSecondWanted: boolean) {
  const given = input.length;
  const least = inputs?.startsWith('two') ? 2 : 1;
  if (inputs === undefined || inputs === 'one') return { least: 1, most: Math.max(1, given) };
  // Few functions and methods have a second series: its field comes with them.
  if (inputs === 'one or two') return { least, most: Math.max(isSecondWanted ? 2 : 1, given) };
  const most = inputs === 'two or three' ? 3 : inputs.endsWith('more') ? Math.max(least, given) + 1 : 2;
  return { least, most: Math.max(most, given) };
}

/** A series or, with the number of series that match, a pattern. */
type InputChoice = SeriesReference & { readonly count?: number };

interface InputFieldProps {
  readonly label: string;
  readonly value: SeriesReference | undefined;
  readonly choices: readonly (readonly InputChoice[])[];
  readonly none: string | undefined;
  readonly issues: readonly Issue[];
  readonly onChoose: (chosen: SeriesReference | undefined) => void;
}

/** So many choices are offered once the field is pointed at or has the focus: 10,000 take a second. */
const CHOICES_MANY = 500;

function InputField({ label, value, choices, none, issues, onChoose }: InputFieldProps) {
  const id = useId();
  const key = value === undefined ? '' : keyOf(value);
  const find = (wanted: string) => choices.flat().find((one) => keyOf(one) === wanted);
  const [isNear, setIsNear] = useState(false);
  const offered = isNear || choices.flat().length < CHOICES_MANY ? choices : [];
  const offer = (): void => setIsNear(true);
  return (
    <div class="field input-field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={key}
        aria-invalid={issues.length > 0}
        aria-describedby={`${id}-problem`}
        onFocus={offer}
        onPointerEnter={offer}
        onChange={({ currentTarget }) => {
          const chosen = find(currentTarget.value);
          onChoose(chosen && referenceOf(chosen));
        }}
      >
        {(none !== undefined || value === undefined) && <option value="">{none ?? '–'}</option>}
        {value !== undefined && (offered !== choices || find(key) === undefined) && (
          <option value={key}>{nameOf(value)}</option>
        )}
        {offered.map((some, index) => (
          <Options key={index} choices={some} />
        ))}
      </select>
      <Problems issues={issues} id={`${id}-problem`} />
    </div>
  );
}

// Rendered again only if the choices change: there may be thousands.
function Options({ choices }: { readonly choices: readonly InputChoice[] }) {
  return useMemo(
    () => (
      <>
        {choices.map((one) => (
          <option key={keyOf(one)} value={keyOf(one)}>
            {nameOf(one)}
            {one.count === undefined ? '' : `: each of ${one.count}`}
          </option>
        ))}
      </>
    ),
    [choices],
  );
}

function ResultName({ place }: { readonly place: Place }) {
  const { state, view, act } = useWorkbench();
  const { metric } = resultOf(state.draft, place);
  // A name counts once it is whole: on the way to it are names of others.
  const [typed, setTyped] = useState<string>();
  const id = useId();
  const isLast = place.step === state.draft[place.item]!.operations.length - 1;
  const issues = [
    ...issuesAt(view.checked.issues, `${pointerOf(place)}/output`),
    ...(isLast ? issuesAt(view.checked.issues, `/${place.item}/metric`) : []),
  ];
  return (
    <div class="field">
      <label for={id}>{isLast ? 'result, as metric' : 'result'}</label>
      <input
        id={id}
        value={typed ?? metric}
        aria-invalid={issues.length > 0}
        aria-describedby={`${id}-problem`}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget: { value } }) => setTyped(value)}
        // A text that is that of before again is no change.
        onBlur={() => setTyped(undefined)}
        onChange={({ currentTarget: { value } }) => {
          const loaded = loadedSeries(state.sets).map(({ info }) => info);
          act({ type: 'edited', draft: renameResult(state.draft, place, value, loaded) });
        }}
      />
      <Problems issues={issues} id={`${id}-problem`} />
    </div>
  );
}

function StepResult({ pointer }: { readonly pointer: string }) {
  const { state, view } = useWorkbench();
  const results = state.answer.steps.filter((one) => one.pointer === pointer);
  const shown = view.series.filter((one) => one.pointer === pointer);
  const infos = useMemo(() => results.map(({ info }) => info), [state.answer, pointer]);
  if (shown.length === 0) return <p class="empty small">no result yet</p>;
  const of = ({ timeseriesId }: SeriesReference): string => (results.length === 1 ? '' : `of ${timeseriesId} `);
  const dropped = results.flatMap(({ info, dropped: words }) => words.map((word) => of(info) + word));
  return (
    <div class="step-result">
      <Spark series={shown} />
      {dropped.length > 0 && <p class="dropped">left out: {dropped.join(', ')}</p>}
      <DataTable series={infos} zone={view.chartZone} />
    </div>
  );
}
