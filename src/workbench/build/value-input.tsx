import { useEffect, useState } from 'preact/hooks';
import type { JsonSchema } from '../../inspect/index.js';
import { isObject } from '../request/draft.js';

interface InputProps {
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly isRequired: boolean;
  readonly id: string;
  readonly isBad: boolean;
  readonly describedBy: string;
  readonly onValue: (value: unknown) => void;
}

/** The input for one value, by its schema: a choice, or a text with suggestions. */
export function ValueInput(props: InputProps) {
  const { schema, value, isRequired, id, isBad, describedBy, onValue } = props;
  const marks = { id, 'aria-invalid': isBad, 'aria-describedby': describedBy };
  if (schema.type === 'boolean' || Array.isArray(schema.enum)) {
    const choices: readonly unknown[] = Array.isArray(schema.enum) ? schema.enum : [true, false];
    const isKnown = value === undefined || choices.includes(value);
    return (
      <select
        {...marks}
        value={value === undefined ? '' : String(value)}
        onChange={({ currentTarget: { value: chosen } }) => onValue(choices.find((one) => String(one) === chosen))}
      >
        {(!isRequired || value === undefined) && (
          <option value="">{schema.default === undefined ? '–' : `– (${schema.default})`}</option>
        )}
        {!isKnown && <option value={String(value)}>{String(value)}</option>}
        {choices.map((one) => (
          <option key={String(one)} value={String(one)}>
            {String(one)}
          </option>
        ))}
      </select>
    );
  }
  return <TextInput {...props} marks={marks} />;
}

/** A text that may stand for a number; the check of the request decides what it means. */
function TextInput({ schema, value, marks, id, onValue }: InputProps & { readonly marks: object }) {
  const [text, setText] = useState(textOf(value));
  // What is being typed stays; a value from elsewhere replaces it.
  useEffect(() => {
    if (readText(text, schema) !== value) setText(textOf(value));
  }, [value]);
  const choices = suggestionsOf(schema);
  const isZone = schema.format === 'timezone';
  return (
    <>
      <input
        {...marks}
        value={text}
        list={isZone ? 'zones' : choices.length > 0 ? `${id}-list` : undefined}
        inputMode={isNumber(schema) ? 'decimal' : 'text'}
        placeholder={schema.default === undefined ? choices[0] && `like ${choices[0]}` : String(schema.default)}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          onValue(readText(currentTarget.value, schema));
        }}
      />
      {!isZone && choices.length > 0 && (
        <datalist id={`${id}-list`}>
          {choices.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </>
  );
}

function suggestionsOf({ examples, format, oneOf }: JsonSchema): string[] {
  if (Array.isArray(examples)) return examples.map(String);
  const isDuration =
    format === 'duration' || (Array.isArray(oneOf) && oneOf.some((one) => isObject(one) && one.format === 'duration'));
  if (isDuration) return ['PT1M', 'PT5M', 'PT15M', 'PT1H', 'P1D'];
  return format === 'date-time' ? ['2024-01-31T12:00:00Z'] : [];
}

/** Whether a schema takes only numbers. */
export function isNumber({ type }: JsonSchema): boolean {
  return type === 'number' || type === 'integer';
}

function takesNumber(schema: JsonSchema): boolean {
  const { oneOf, anyOf } = schema;
  const forms = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : [schema];
  return forms.some((one) => isObject(one) && isNumber(one));
}

function readText(text: string, schema: JsonSchema): unknown {
  if (text.trim() === '') return undefined;
  const number = Number(text);
  if (takesNumber(schema) && Number.isFinite(number)) return number;
  if (schema.type !== undefined || schema.oneOf !== undefined || schema.anyOf !== undefined) return text;
  // A schema without a type takes any JSON.
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
