import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type DataSet, keyOf, nameOf, type WhyAnswer, type WhyPart, type WhyStage } from '../engine/protocol.js';
import { type Asked, useWorkbench } from '../state.js';
import { counted, timeText, valueText } from './zoned-time.js';

/** How a result came about, which was chosen on the chart or in a table. */
export function WhyPanel() {
  const { state } = useWorkbench();
  return state.asked === undefined ? null : <Answer asked={state.asked} />;
}

function Answer({ asked }: { readonly asked: Asked }) {
  const { engine, state, view, act } = useWorkbench();
  const [answer, setAnswer] = useState<WhyAnswer>();
  const [problem, setProblem] = useState('');
  const title = useRef<HTMLHeadingElement>(null);
  const opener = useRef<Element | null>(null);
  const key = `${keyOf(asked.series)} ${asked.timeMs}`;
  const sources = state.sets.filter(({ series }) => series.some((one) => keyOf(one) === keyOf(asked.series)));
  const isResult = state.answer.steps.some(({ info }) => keyOf(info) === keyOf(asked.series));
  // The focus moves here as soon as the panel is there, so that no Escape is lost, and goes back when it is closed.
  useLayoutEffect(() => {
    opener.current = document.activeElement;
    title.current?.focus();
    title.current?.scrollIntoView({ block: 'nearest' });
  }, [key]);
  useEffect(() => {
    let isCurrent = true;
    const take = (found: WhyAnswer | undefined, fault: string): void => {
      if (!isCurrent) return;
      setAnswer(found);
      setProblem(fault);
      const window = found?.stages[0]?.window;
      act({ type: 'set', to: { window: window && { fromMs: window.startMs, untilMs: window.endMs } } });
    };
    if (isResult) {
      const { series, timeMs } = asked;
      engine.ask('why', series, timeMs).then(
        (found) => take(found, ''),
        (error: Error) => take(undefined, error.message),
      );
    } else take(undefined, originOf(sources));
    return () => {
      isCurrent = false;
    };
  }, [key, state.answer]);
  const close = (): void => {
    act({ type: 'set', to: { asked: undefined, window: undefined } });
    if (opener.current instanceof HTMLElement) opener.current.focus();
  };
  return (
    <section
      class="panel why"
      aria-labelledby="why-title"
      onKeyDown={({ key: pressed }) => {
        if (pressed === 'Escape') close();
      }}
    >
      <div class="row">
        <h2 id="why-title" ref={title} tabIndex={-1} aria-live="polite">
          Why {nameOf(asked.series)} is {answer === undefined ? 'so' : valueText(answer.value)} at{' '}
          {timeText(asked.timeMs, view.chartZone)}
        </h2>
        <span class="spring" />
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      <p role="status">{problem}</p>
      <ol>
        {answer?.stages.map((stage, index) => (
          <Stage key={index} stage={stage} zone={view.chartZone} />
        ))}
      </ol>
    </section>
  );
}

function originOf(sources: readonly DataSet[]): string {
  const last = sources.at(-1);
  if (last === undefined) return 'The series is gone.';
  const files = sources.filter(({ isFile }) => isFile).map(({ name }) => name);
  return last.isFile ? `It was read from ${files.join(' and ')}.` : 'It is stored in the service.';
}

function Stage({ stage, zone }: { readonly stage: WhyStage; readonly zone: string }) {
  const { title, window, parts, isProved } = stage;
  return (
    <li class="step">
      <h3>{title}</h3>
      {window !== undefined && (
        <p>
          Window from {timeText(window.startMs, window.timezone)} to {timeText(window.endMs, window.timezone)} (
          {window.timezone})
        </p>
      )}
      {!isProved && <p class="faint">It could not run alone: these are the samples of the same times.</p>}
      <div class="why-parts">
        {parts.map((part, index) => (
          <Part key={index} part={part} zone={zone} />
        ))}
      </div>
    </li>
  );
}

function Part({ part, zone }: { readonly part: WhyPart; readonly zone: string }) {
  const { what, samples } = part;
  const { count, first, last } = samples;
  const hidden = count - first.length - last.length;
  const rows = (some: typeof first) =>
    some.map(({ timeMs, value, note }, index) => (
      <tr key={index}>
        <td>{timeText(timeMs, zone)}</td>
        <td class="number">{Number.isNaN(value) ? '–' : value}</td>
        {note !== '' && <td class="faint">{note}</td>}
      </tr>
    ));
  return (
    <table class="samples">
      <caption>
        {what} {counted(count, 'sample')} of {nameOf(part)}
      </caption>
      <tbody>
        {rows(first)}
        {hidden > 0 && (
          <tr>
            <td colSpan={3}>… {counted(hidden, 'more sample')} …</td>
          </tr>
        )}
        {rows(last)}
      </tbody>
    </table>
  );
}
