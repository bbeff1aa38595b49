import { useState } from 'preact/hooks';
import { isZone } from '../../plot/time-ticks.js';
import { zoneNames } from './zoned-time.js';

/** A field for a time zone; anything else is not accepted. */
export function ZoneField(props: {
  label: string;
  value: string;
  placeholder: string;
  onZone: (timezone: string) => void;
}) {
  const [text, setText] = useState(props.value);
  const isSound = text === '' || isZone(text);
  return (
    <label class="inline">
      {props.label}
      <input
        list="zones"
        value={text}
        placeholder={props.placeholder}
        aria-invalid={!isSound}
        size={16}
        onInput={({ currentTarget: { value } }) => {
          setText(value);
          if (value === '' || isZone(value)) props.onZone(value);
        }}
      />
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
