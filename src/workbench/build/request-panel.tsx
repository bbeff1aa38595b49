import { useEffect, useMemo, useState } from 'preact/hooks';
import { explain } from '../../inspect/index.js';
import { counted, countText } from '../chart/zoned-time.js';
import { copyText, download } from '../download.js';
import { keyOf, nameOf } from '../engine/protocol.js';
import { sentenceOf } from '../request/check.js';
import { readRequest, writeRequest } from '../request/draft.js';
import { commandLine } from '../request/share.js';
import { useWorkbench } from '../state.js';
import { TableHead } from '../table-head.js';

/** The request as text, and what follows from it. */
export function RequestPanel({ onService }: { readonly onService: (() => void) | undefined }) {
  // Of the text. While there is one, the last sound request is not given away for it.
  const [problem, setProblem] = useState('');
  const isBroken = problem !== '';
  return (
    <>
      <JsonSection problem={problem} setProblem={setProblem} />
      <CommandSection isBroken={isBroken} />
      {onService !== undefined && <ServiceSection isBroken={isBroken} onService={onService} />}
      <ResultCounts />
      <ReportSection />
    </>
  );
}

function JsonSection({ problem, setProblem }: { problem: string; setProblem: (problem: string) => void }) {
  const { state, view, act } = useWorkbench();
  const written = useMemo(() => writeRequest(state.draft), [state.draft]);
  const [text, setText] = useState(written);
  // What is typed here stays as it is, what is changed elsewhere replaces it.
  useEffect(() => {
    if (means(text, written)) return;
    setText(written);
    setProblem('');
  }, [written]);
  const { issues, plan } = view.checked;
  const take = (next: string): void => {
    setText(next);
    const read = readRequest(next);
    setProblem('problem' in read ? read.problem : '');
    if ('draft' in read) act({ type: 'edited', draft: read.draft });
  };
  return (
    <section class="panel" aria-labelledby="json-title">
      <div class="row">
        <h2 id="json-title">Request</h2>
        <span class="spring" />
        <CopyButton what="the request" text={() => text} />
        <button type="button" onClick={() => download('request.json', new Blob([text], { type: 'application/json' }))}>
          Download
        </button>
      </div>
      <textarea
        class="json"
        aria-label="Request as JSON"
        aria-invalid={problem !== '' || issues.length > 0}
        aria-describedby="json-problems"
        spellcheck={false}
        rows={Math.min(28, Math.max(6, text.split('\n').length))}
        value={text}
        onInput={({ currentTarget: { value } }) => take(value)}
      />
      {plan !== undefined && (
        <details>
          <summary>The plan in words</summary>
          <pre class="line">{explain(plan)}</pre>
        </details>
      )}
      {/* Announced while the text or a form is edited. */}
      <div id="json-problems" role="status">
        {problem !== '' && <p class="problems">{problem}</p>}
        {issues.length > 0 && (
          <ul class="problems">
            {issues.map((issue) => (
              <li key={`${issue.pointer} ${issue.code}`}>
                <code>{issue.pointer || 'the request'}</code> {sentenceOf(issue)}{' '}
                <span class="faint">{issue.code}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}

function means(text: string, written: string): boolean {
  const read = readRequest(text);
  return 'draft' in read && writeRequest(read.draft) === written;
}

function CopyButton({ what, text }: { readonly what: string; readonly text: () => string }) {
  const [said, setSaid] = useState('Copy');
  return (
    <button
      type="button"
      onClick={async () => {
        setSaid((await copyText(text())) ? 'Copied' : 'Select it by hand');
        setTimeout(() => setSaid('Copy'), 2000);
      }}
    >
      <span aria-live="polite">
        {said}
        <span class="hidden"> {what}</span>
      </span>
    </button>
  );
}

function CommandSection({ isBroken }: { readonly isBroken: boolean }) {
  const { state, view, engine } = useWorkbench();
  // Results of a request that has changed since are not given away under its name.
  const isCurrent = state.ranSteps === view.checked.steps;
  const line = commandLine(
    state.sets.filter(({ isFile }) => isFile),
    state.timezone,
  );
  const { results } = view.checked;
  return (
    <section class="panel" aria-labelledby="command-title">
      <div class="row">
        <h2 id="command-title">Run it with the command</h2>
        <span class="spring" />
        {line !== undefined && <CopyButton what="the command" text={() => line} />}
        <button
          type="button"
          disabled={isBroken || state.answer.steps.length === 0 || view.checked.issues.length > 0 || !isCurrent}
          onClick={async () => download('results.csv', await engine.ask('csv', results))}
        >
          Download results.csv
        </button>
      </div>
      {line === undefined ? (
        <p class="help">These files are read in different ways; the command reads all in one.</p>
      ) : (
        <>
          <pre class="line">{line}</pre>
          <p class="help">
            With the request downloaded as <code>request.json</code>, this gives the same <code>results.csv</code>, byte
            for byte.
          </p>
        </>
      )}
    </section>
  );
}

function ServiceSection({ isBroken, onService }: { readonly isBroken: boolean; readonly onService: () => void }) {
  return (
    <section class="panel" aria-labelledby="to-service-title">
      <div class="row wrap">
        <h2 id="to-service-title">Run it in the service</h2>
        <span class="spring" />
        <button type="button" disabled={isBroken} onClick={onService}>
          Send it to the service…
        </button>
      </div>
      <p class="help">Sends the samples that it reads, and computes there, once or whenever samples come in.</p>
    </section>
  );
}

/** Of more results their number is told. */
const RESULTS_TOLD = 4;

/** Announced once results are there: others see the charts. */
function ResultCounts() {
  const { state, view } = useWorkbench();
  const results = new Set(view.checked.results.map(keyOf));
  const found = state.answer.steps.filter(({ info }) => results.has(keyOf(info)));
  return (
    <p class="hidden" role="status">
      {found.length > RESULTS_TOLD
        ? counted(found.length, 'result')
        : found.map(({ info }) => `${nameOf(info)}: ${counted(info.count, 'sample')}`).join(', ')}
    </p>
  );
}

function ReportSection() {
  const { state } = useWorkbench();
  if (state.answer.steps.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="report-title">
      <h2 id="report-title">What became of every sample</h2>
      <p class="faint">
        {counted(state.answer.steps.length, 'step')} in {state.answer.durationMs.toFixed(1)} ms
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: on a phone it scrolls, by the keyboard too */}
      <div class="table-scroll" tabIndex={0}>
        <table>
          <TableHead columns={['Series', { number: 'In' }, { number: 'Out' }, 'Left out']} />
          <tbody>
            {state.answer.sources.map((source) => (
              <tr key={nameOf(source)}>
                <th scope="row">{nameOf(source)}</th>
                <td class="number">{countText(source.samplesIn)}</td>
                <td class="number">{countText(source.samplesOut)}</td>
                <td>{source.dropped.join(', ')}</td>
              </tr>
            ))}
            {state.answer.steps.map(({ info, samplesIn, dropped }) => (
              <tr key={nameOf(info)}>
                <th scope="row">{nameOf(info)}</th>
                <td class="number">{countText(samplesIn)}</td>
                <td class="number">{countText(info.count)}</td>
                <td>{dropped.join(', ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
