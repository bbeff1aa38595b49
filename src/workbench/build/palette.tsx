import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type OperationInfo, operations } from '../../index.js';
import { Words } from './fields.js';

interface PaletteProps {
  readonly title: string;
  readonly onChoose: (operation: string) => void;
  readonly onClose: () => void;
}

const SHAPES: Readonly<Record<OperationInfo['shape'], string>> = {
  map: 'A result for each sample',
  filter: 'Some of the samples',
  regrid: 'Results at times of their own',
};

/** All operations, to be searched and chosen from. */
export function Palette({ title, onChoose, onClose }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [search, setSearch] = useState('');
  const [at, setAt] = useState(0);
  // Before anything is typed.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const found = matching(search);
  const chosen = found[Math.min(at, found.length - 1)];
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
    else if (event.key === 'Enter' && chosen !== undefined) onChoose(chosen.name);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label={title} onClose={onClose} onKeyDown={onKey}>
      <div class="row">
        <input
          type="search"
          list={undefined}
          aria-label="Search operations"
          placeholder={`Search ${operations.size} operations`}
          // biome-ignore lint/a11y/noRedundantRoles: without a list of the browser's own, it has it not
          role="combobox"
          aria-expanded
          aria-controls="palette-list"
          aria-activedescendant={chosen === undefined ? undefined : optionId(chosen)}
          value={search}
          onInput={({ currentTarget: { value } }) => {
            setSearch(value);
            // What is called so comes before what only speaks of it.
            const named = matching(value).findIndex(({ name }) => name.toLowerCase().startsWith(value.toLowerCase()));
            setAt(Math.max(0, named));
          }}
        />
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
      <div class="palette-body">
        <div id="palette-list" role="listbox" aria-label="Operations" tabIndex={-1}>
          {Object.entries(SHAPES).map(([shape, words]) => {
            const group = found.filter((info) => info.shape === shape);
            return group.length === 0 ? null : (
              // biome-ignore lint/a11y/useSemanticElements: a group of options, not of fields
              <div role="group" aria-label={words} key={shape}>
                <div class="group-title" aria-hidden>
                  {words}
                </div>
                {group.map((info) => (
                  <Option
                    key={info.name}
                    info={info}
                    isChosen={info === chosen}
                    onChoose={onChoose}
                    onPoint={() => setAt(found.indexOf(info))}
                  />
                ))}
              </div>
            );
          })}
          {found.length === 0 && <p class="empty">No operation has these letters.</p>}
        </div>
        {chosen !== undefined && <Detail info={chosen} />}
      </div>
    </dialog>
  );
}

function Option(props: {
  info: OperationInfo;
  isChosen: boolean;
  onChoose: (name: string) => void;
  onPoint: () => void;
}) {
  const { info, isChosen, onChoose, onPoint } = props;
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are taken by the search field
    <div
      ref={element}
      id={optionId(info)}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      onClick={() => onChoose(info.name)}
      onPointerMove={onPoint}
    >
      <strong>{info.name}</strong> <span>{info.summary}</span>
    </div>
  );
}

/** What an operation does, by its examples. */
function Detail({ info }: { readonly info: OperationInfo }) {
  return (
    <div class="detail">
      <h3>{info.name}</h3>
      <p>
        <Words text={info.summary} />
      </p>
      {info.examples.map(({ title, parameters, inputs, output }) => (
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

function matching(search: string): OperationInfo[] {
  const words = search.toLowerCase().split(/\s+/);
  const all = [...operations.values()].filter(({ name, aliases, summary, parameters }) => {
    // An Average is a function of Aggregate.
    const text = [name, ...aliases, summary, JSON.stringify(parameters)].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
  // In the order in which they are shown, those whose name fits first.
  const shapes = Object.keys(SHAPES);
  const isNamed = ({ name }: OperationInfo): boolean =>
    search !== '' && name.toLowerCase().startsWith(search.toLowerCase());
  return all.sort(
    (a, b) => shapes.indexOf(a.shape) - shapes.indexOf(b.shape) || Number(isNamed(b)) - Number(isNamed(a)),
  );
}

function optionId({ name }: OperationInfo): string {
  return `operation-${name.replaceAll(' ', '-')}`;
}
