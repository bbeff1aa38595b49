import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type OperationInfo, operations } from '../../inspect/index.js';
import { isObject, type Parameters } from '../request/draft.js';
import { Words } from './fields.js';
import { type Recipe, recipes } from './recipes.js';

/** An operation, perhaps with parameters, or a recipe. */
export type Choice = { readonly operation: string; readonly parameters: Parameters } | { readonly recipe: Recipe };

interface PaletteProps {
  readonly title: string;
  readonly onChoose: (choice: Choice) => void;
  readonly onClose: () => void;
}

/** An operation, perhaps with a choice that was searched for (Aggregate with the function TimeInState), or a recipe. */
interface Entry {
  readonly info?: OperationInfo;
  readonly choice: Choice;
  readonly label: string;
  readonly summary: string;
  readonly group: keyof typeof GROUPS;
}

const GROUPS = {
  map: 'A result for each sample',
  filter: 'Some of the samples',
  regrid: 'Results at other times, or from several samples',
  recipe: 'Recipes, for results of their own',
};

/** A dialog to search all operations and choose one. */
export function Palette({ title, onChoose, onClose }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [search, setSearch] = useState('');
  const [at, setAt] = useState(0);
  // A layout effect, so that it is open before anything is typed.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const found = matching(search);
  const chosen = found[Math.min(at, found.length - 1)];
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
    else if (event.key === 'Enter' && chosen !== undefined) onChoose(chosen.choice);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label={title} onClose={onClose}>
      <div class="row">
        <input
          type="search"
          list={undefined}
          aria-label="Search operations"
          placeholder={`Search ${operations.size} operations, and recipes`}
          // biome-ignore lint/a11y/noRedundantRoles: without a `list` the role is not implied
          role="combobox"
          aria-expanded
          aria-controls="palette-list"
          aria-activedescendant={chosen === undefined ? undefined : optionId(chosen)}
          value={search}
          onKeyDown={onKey}
          onInput={({ currentTarget: { value } }) => {
            setSearch(value);
            // What has this name comes before what only mentions it.
            setAt(Math.max(0, matching(value).findIndex(isNamed(value))));
          }}
        />
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <div class="palette-body">
        <div id="palette-list" role="listbox" aria-label="Operations" tabIndex={-1}>
          {Object.entries(GROUPS).map(([name, words]) => {
            const group = found.filter((entry) => entry.group === name);
            return group.length === 0 ? null : (
              // biome-ignore lint/a11y/useSemanticElements: a group of options, not of fields
              <div role="group" aria-label={words} key={name}>
                <div class="group-title" aria-hidden>
                  {words}
                </div>
                {group.map((entry) => (
                  <Option
                    key={entry.label}
                    entry={entry}
                    isChosen={entry === chosen}
                    onChoose={onChoose}
                    onPoint={() => setAt(found.indexOf(entry))}
                  />
                ))}
              </div>
            );
          })}
          {found.length === 0 && <p class="empty">Nothing has these letters.</p>}
        </div>
        {chosen !== undefined && <Detail {...chosen} />}
      </div>
    </dialog>
  );
}

function Option(props: { entry: Entry; isChosen: boolean; onChoose: PaletteProps['onChoose']; onPoint: () => void }) {
  const { entry, isChosen, onChoose, onPoint } = props;
  const { choice, label, summary } = entry;
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are taken by the search field
    <div
      ref={element}
      id={optionId(entry)}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      onClick={() => onChoose(choice)}
      onPointerMove={onPoint}
    >
      <strong>{label}</strong> <span>{summary}</span>
    </div>
  );
}

/** What an operation does, by its examples; the steps of a recipe. */
function Detail({ info, choice, label, summary }: Entry) {
  return (
    <div class="detail">
      <h3>{label}</h3>
      <p>
        <Words text={summary} />
      </p>
      {'recipe' in choice &&
        choice.recipe[2].map(([operation, , output, parameters]) => (
          <p class="example" key={output}>
            {operation} <code>{JSON.stringify(parameters)}</code>
          </p>
        ))}
      {info?.examples.map(({ title, parameters, inputs, output }) => (
        <div key={title} class="example">
          <p>
            <Words text={title} />
          </p>
          <code>{JSON.stringify(parameters)}</code>
          <dl>
            {inputs.map((input, index) => (
              <div key={index}>
                <dt>{inputs.length > 1 ? `input ${index + 1}` : 'input'}</dt>
                <dd>{samplesText(input)}</dd>
              </div>
            ))}
            <div>
              <dt>gives</dt>
              <dd>{samplesText(output)}</dd>
            </div>
          </dl>
        </div>
      ))}
    </div>
  );
}

function samplesText(samples: readonly (readonly [string, number])[]): string {
  return samples.map(([time, value]) => `${time} → ${value}`).join('   ') || 'nothing';
}

function matching(search: string): Entry[] {
  const words = search.toLowerCase().split(/\s+/);
  const fits = (text: string): boolean => words.every((word) => text.toLowerCase().includes(word));
  const ofOperations = [...operations.values()].flatMap((info): Entry[] => {
    const { name, aliases, summary, parameters, shape } = info;
    const chosen =
      search.trim().length < LETTERS_OF_CHOICE_MIN ? [] : choicesOf(parameters).filter(([, one]) => fits(one));
    const own = [name, ...aliases, summary, ...(chosen.length === 0 ? [JSON.stringify(parameters)] : [])].join(' ');
    const entry = (label: string, given: Parameters): Entry => {
      return { info, choice: { operation: name, parameters: given }, label, summary, group: shape };
    };
    return [
      ...(fits(own) ? [entry(name, {})] : []),
      ...chosen.map(([parameter, one]) => entry(`${name}: ${one}`, { [parameter]: one })),
    ];
  });
  const ofRecipes = recipes
    .filter(([title, question]) => fits(`${title} ${question}`))
    .map((recipe): Entry => ({ choice: { recipe }, label: recipe[0], summary: recipe[1], group: 'recipe' }));
  // By group, as they are shown; within a group, names that match come first.
  const groups = Object.keys(GROUPS);
  const isFirst = isNamed(search);
  return [...ofOperations, ...ofRecipes].sort(
    (a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || Number(isFirst(b)) - Number(isFirst(a)),
  );
}

/** Shorter searches would match too many choices. */
const LETTERS_OF_CHOICE_MIN = 3;

function choicesOf({ properties }: OperationInfo['parameters']): [parameter: string, choice: string][] {
  return Object.entries(isObject(properties) ? properties : {}).flatMap(([name, schema]) =>
    isObject(schema) && Array.isArray(schema.enum)
      ? schema.enum.map((one): [string, string] => [name, String(one)])
      : [],
  );
}

function isNamed(search: string): (entry: Entry) => boolean {
  const start = search.toLowerCase();
  return ({ label }) => start !== '' && label.toLowerCase().split(': ').at(-1)!.startsWith(start);
}

function optionId({ label }: Entry): string {
  return `operation-${label.replaceAll(/\W+/g, '-')}`;
}
