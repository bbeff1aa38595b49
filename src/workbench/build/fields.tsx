import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Issue } from '../../index.js';
import type { JsonSchema } from '../../inspect/index.js';
import { sentenceOf } from '../request/check.js';
import { isObject, type Parameters, withParameter } from '../request/draft.js';
import { issuesAt } from '../state.js';
import { isNumber, ValueInput } from './value-input.js';

/** Fields of forms, made from what operations say of their parameters (JSON Schema). */

interface FieldProps {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly isRequired: boolean;
  readonly pointer: string;
  readonly issues: readonly Issue[];
  /** The new value; undefined leaves the parameter out. */
  readonly onValue: (value: unknown) => void;
}

/** A parameter with its label, its help, its input and what is wrong with it. */
function Field(props: FieldProps) {
  const { name, schema, isRequired, pointer, issues } = props;
  const id = useId();
  const own = issuesAt(issues, pointer);
  const variants = variantsOf(schema);
  if (schema.type === 'array' || schema.type === 'object' || variants.length > 0) {
    return (
      <fieldset class="field group" aria-describedby={`${id}-problem`}>
        <legend>{labelOf(name, isRequired)}</legend>
        <Help schema={schema} />
        {variants.length > 0 && <VariantInput {...props} variants={variants} />}
        {schema.type === 'array' && <ListInput {...props} />}
        {schema.type === 'object' && <ObjectInput {...props} />}
        <Problems issues={own.filter((issue) => issue.pointer === pointer)} id={`${id}-problem`} />
      </fieldset>
    );
  }
  const isBad = own.length > 0;
  return (
    <div class="field">
      <label for={id}>{labelOf(name, isRequired)}</label>
      <ValueInput {...props} id={id} isBad={isBad} describedBy={`${id}-help${isBad ? ` ${id}-problem` : ''}`} />
      <Help schema={schema} id={`${id}-help`} />
      <Problems issues={own} id={`${id}-problem`} />
    </div>
  );
}

function labelOf(name: string, isRequired: boolean): ComponentChildren {
  return (
    <>
      {name}
      {isRequired && <span class="required"> required</span>}
    </>
  );
}

/** Problems beside what they are about; those of the whole request are announced (`request-panel.tsx`). */
export function Problems({ issues, id }: { readonly issues: readonly Issue[]; readonly id?: string }) {
  if (issues.length === 0) return null;
  return (
    <ul class="problems" id={id}>
      {issues.map((issue) => (
        <li key={`${issue.pointer}${issue.code}`}>{sentenceOf(issue)}</li>
      ))}
    </ul>
  );
}

function Help({ schema, id }: { readonly schema: JsonSchema; readonly id?: string }) {
  const { description, minimum, maximum, default: standard } = schema;
  const bounds = [
    minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}` : '',
    minimum !== undefined && maximum === undefined ? `at least ${minimum}` : '',
    minimum === undefined && maximum !== undefined ? `at most ${maximum}` : '',
    standard === undefined ? '' : `default ${String(standard)}`,
  ].filter((part) => part !== '');
  return (
    <p class="help" id={id}>
      {typeof description === 'string' && <Words text={description} />}
      {bounds.length > 0 && <span class="bounds"> {bounds.join(', ')}</span>}
    </p>
  );
}

/** A text in which names stand between backticks. */
export function Words({ text }: { readonly text: string }) {
  return <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={part + index}>{part}</code> : part))}</>;
}

function ListInput({ name, schema, value, pointer, issues, onValue }: FieldProps) {
  const items = Array.isArray(value) ? value : [];
  const itemSchema: JsonSchema = isObject(schema.items) ? schema.items : {};
  const set = (index: number, one: unknown): void => onValue(items.map((item, at) => (at === index ? one : item)));
  return (
    <>
      {items.map((item, index) => (
        <div class="list-entry" key={index}>
          <ItemInput
            schema={itemSchema}
            name={`${name} ${index + 1}`}
            value={item}
            pointer={`${pointer}/${index}`}
            issues={issues}
            onValue={(one) => set(index, one)}
          />
          <button
            type="button"
            class="small"
            aria-label={`Remove ${name} ${index + 1}`}
            onClick={() => onValue(items.length === 1 ? undefined : items.filter((_, at) => at !== index))}
          >
            ×
          </button>
        </div>
      ))}
      <button type="button" class="small" onClick={() => onValue([...items, emptyOf(itemSchema, items.at(-1))])}>
        Add to {name}
      </button>
    </>
  );
}

// A further entry begins like the one before it.
function emptyOf(schema: JsonSchema, before: unknown): unknown {
  if (before !== undefined) return before;
  if (schema.type !== 'object') return isNumber(schema) ? 0 : '';
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const entries = Object.entries(properties).flatMap(([name, one]) => {
    const first =
      isObject(one) && Array.isArray(one.enum)
        ? one.enum[0]
        : isObject(one) && Array.isArray(one.examples)
          ? one.examples[0]
          : undefined;
    return required.includes(name) && first !== undefined ? [[name, first]] : [];
  });
  return Object.fromEntries(entries);
}

/** The forms that an object may have, which its `type` tells apart. */
function variantsOf({ oneOf }: JsonSchema): readonly JsonSchema[] {
  return Array.isArray(oneOf) && oneOf.every((one) => isObject(one) && one.type === 'object') ? oneOf : [];
}

function typeOf({ properties }: JsonSchema): string {
  const type = isObject(properties) && isObject(properties.type) ? properties.type.const : '';
  return String(type);
}

function VariantInput({ variants, ...props }: FieldProps & { readonly variants: readonly JsonSchema[] }) {
  const { name, value, onValue } = props;
  const given: Parameters = isObject(value) ? value : {};
  const chosen = variants.find((one) => typeOf(one) === given.type);
  const choose = (type: string): void => {
    const variant = variants.find((one) => typeOf(one) === type);
    onValue(variant && { type, ...Object(emptyOf(variant, undefined)) });
  };
  return (
    <div class="fields">
      <select
        aria-label={`Type of ${name}`}
        value={chosen === undefined ? '' : typeOf(chosen)}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        <option value="">–</option>
        {variants.map((one) => (
          <option key={typeOf(one)}>{typeOf(one)}</option>
        ))}
      </select>
      {chosen !== undefined && (
        <ParameterFields
          key={typeOf(chosen)}
          schema={chosen}
          parameters={given}
          pointer={props.pointer}
          issues={props.issues}
          hidden={['type']}
          onParameters={onValue}
        />
      )}
    </div>
  );
}

function ItemInput(props: Omit<FieldProps, 'isRequired'>) {
  if (props.schema.type === 'object') return <ObjectInput {...props} isRequired />;
  return <Field {...props} isRequired />;
}

function ObjectInput({ schema, value, pointer, issues, onValue }: FieldProps) {
  const given: Parameters = isObject(value) ? value : {};
  return (
    <div class="fields">
      <ParameterFields schema={schema} parameters={given} pointer={pointer} issues={issues} onParameters={onValue} />
    </div>
  );
}

/** Whether a parameter is for what others choose: `upper`, "for TimeInState", where that is the function. */
function isMeant(properties: Parameters, parameters: Parameters, name: string): boolean {
  const own = properties[name];
  const words = isObject(own) && typeof own.description === 'string' ? own.description.split(/\W+/) : [];
  return Object.entries(parameters).some(([other, value]) => {
    const schema = properties[other];
    return isObject(schema) && Array.isArray(schema.enum) && words.includes(String(value));
  });
}

interface ParameterFieldsProps {
  readonly schema: JsonSchema;
  readonly parameters: Parameters;
  readonly pointer: string;
  readonly issues: readonly Issue[];
  readonly onParameters: (parameters: Parameters) => void;
  /** Names that stand elsewhere. */
  readonly hidden?: readonly string[];
  /** Names that stand before the lid from the start. */
  readonly first?: readonly string[];
}

/** The fields of an object: those that are required, set or meant, and behind a lid all others. */
export function ParameterFields({
  schema,
  parameters,
  pointer,
  issues,
  onParameters,
  hidden = [],
  first = [],
}: ParameterFieldsProps) {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const all = Object.entries(properties).filter(([name]) => !hidden.includes(name));
  const [shown, setShown] = useState<ReadonlySet<string>>(new Set(first));
  // A field that was shown once stays, so that it does not go away while it is emptied.
  const isShown = (name: string): boolean =>
    required.includes(name) ||
    isMeant(properties, parameters, name) ||
    parameters[name] !== undefined ||
    shown.has(name) ||
    issuesAt(issues, `${pointer}/${name}`).length > 0;
  const field = ([name, one]: [string, unknown]) => (
    <Field
      key={name}
      name={name}
      schema={isObject(one) ? one : {}}
      value={parameters[name]}
      isRequired={required.includes(name)}
      pointer={`${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`}
      issues={issues}
      onValue={(value) => {
        setShown(new Set(shown).add(name));
        onParameters(withParameter(parameters, name, value));
      }}
    />
  );
  const open = all.filter(([name], _, list) => isShown(name) || list.length <= 2);
  const others = all.filter((entry) => !open.includes(entry));
  return (
    <>
      {open.map(field)}
      {others.length > 0 && (
        <details class="more">
          <summary>{others.map(([name]) => name).join(', ')}</summary>
          <div class="fields">{others.map(field)}</div>
        </details>
      )}
    </>
  );
}
