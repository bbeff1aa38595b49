import { useState } from 'preact/hooks';
import { isZone } from '../../plot/time-ticks.js';
import { zoneNames } from './zoned-time.js';

/** A field for a time zone. What is no zone stays in it with a word about that, and changes nothing. */
export function ZoneField(props: {
  label: string;
  value: string;
  /** The zone that counts while the field is empty. */
  emptyZone: string;
  title?: string;
  onZone: (timezone: string) => void;
}) {
  const [text, setText] = useState<string>();
  const shown = text ?? props.value;
  const isSound = shown === '' || isZone(shown);
  return (
    <label class="inline">
      {props.label}
      <input
        title={props.title}
        list="zones"
        value={shown}
        placeholder={props.emptyZone}
        aria-invalid={!isSound}
        size={16}
        onInput={({ currentTarget: { value } }) => {
          setText(value);
          if (value === '' || isZone(value)) props.onZone(value);
        }}
        onBlur={() => isSound && setText(undefined)}
      />
      {!isSound && (
        <span class="problems" role="alert">
          No such zone: {props.value || props.emptyZone} counts.
        </span>
      )}
    </label>
  );
}

/** The names that fields for zones suggest. */
export function ZoneList() {
  return (
    <datalist id="zones">
      {zoneNames.map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}
