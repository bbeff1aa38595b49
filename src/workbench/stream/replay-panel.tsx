import { useEffect, useRef, useState } from 'preact/hooks';
import { drawSvg } from '../chart/svg.js';
import { lineColour, pageColours } from '../chart/theme.js';
import { counted, countText, timeText } from '../chart/zoned-time.js';
import { messageOf, nameOf, type ReplayOptions, type ReplayState } from '../engine/protocol.js';
import { useWorkbench } from '../state.js';

const TICK_MS = 100;
const SPEEDS = [10, 100, 1000, 10_000];
const DELAYS: readonly (readonly [label: string, ms: number])[] = [
  ['none: in order of time', 0],
  ['up to 10 minutes', 600_000],
  ['up to 1 hour', 3_600_000],
  ['up to 3 hours', 10_800_000],
  ['up to 1 day', 86_400_000],
];

const startOptions: ReplayOptions = {
  allowedLateness: 'PT1H',
  delayMsMax: 10_800_000,
  seed: 1,
  samplesPerSecond: 1000,
};

/** Runs the pipeline as a stream over the same samples, beside its batch. */
export function ReplayPanel() {
  const { state, view } = useWorkbench();
  const [options, setOptions] = useState(startOptions);
  const replay = useReplay(options);
  const isSound = state.draft.length > 0 && view.checked.issues.length === 0 && !state.answer.problem;
  if (!isSound) {
    return (
      <section class="panel" aria-label="Replay">
        <p class="empty">
          {state.draft.length === 0 ? 'Build a pipeline first.' : 'The pipeline has a problem: see Build.'}
        </p>
      </section>
    );
  }
  const { shown, problem, isRunning } = replay;
  return (
    <section class="panel" aria-labelledby="replay-title">
      <h2 id="replay-title">Replay as a stream</h2>
      <p class="help">
        The samples arrive one after the other, some of them delayed. A result becomes final when no sample before its
        end can still come; the result now is dashed. The first 100,000 samples of each are replayed.
      </p>
      <ReplayForm options={options} onOptions={setOptions} />
      <div class="row wrap">
        <button type="button" class="primary" onClick={isRunning ? replay.pause : replay.play}>
          {isRunning ? 'Pause' : shown?.end === undefined && shown !== undefined ? 'Go on' : 'Play'}
        </button>
        <button type="button" disabled={isRunning || shown?.end !== undefined} onClick={() => replay.step(1)}>
          One sample
        </button>
        <button type="button" onClick={replay.reset}>
          From the start
        </button>
        <progress aria-label="Samples that have arrived" value={shown?.arrived ?? 0} max={shown?.total ?? 1} />
      </div>
      {problem !== '' && (
        <p class="problems" role="alert">
          {problem}
        </p>
      )}
      {shown && shown.total > 0 && <ReplayChart shown={shown} />}
      {shown !== undefined && <ReplayFigures shown={shown} />}
      {/* Always there, as changes alone are announced: how far it is when it stops, and the end. */}
      <p class={shown?.end === undefined ? 'hidden' : 'verdict'} role="status">
        {shown !== undefined && !isRunning && stateText(shown)}
      </p>
    </section>
  );
}

function ReplayForm({ options, onOptions }: { options: ReplayOptions; onOptions: (options: ReplayOptions) => void }) {
  return (
    <div class="fields">
      <label class="field">
        <span>Delay of every fifth sample</span>
        <select
          value={String(options.delayMsMax)}
          onChange={({ currentTarget: { value } }) => onOptions({ ...options, delayMsMax: Number(value) })}
        >
          {DELAYS.map(([label, ms]) => (
            <option key={ms} value={String(ms)}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>Allowed lateness</span>
        <input
          value={options.allowedLateness}
          list={undefined}
          spellcheck={false}
          onInput={({ currentTarget: { value } }) => onOptions({ ...options, allowedLateness: value })}
        />
      </label>
      <label class="field">
        <span>Samples a second</span>
        <select
          value={String(options.samplesPerSecond)}
          onChange={({ currentTarget: { value } }) => onOptions({ ...options, samplesPerSecond: Number(value) })}
        >
          {SPEEDS.map((speed) => (
            <option key={speed} value={String(speed)}>
              {countText(speed)}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

/** A replay that advances by itself while it runs; a change of options starts a new one. */
function useReplay(options: ReplayOptions) {
  const { state, view, engine } = useWorkbench();
  const [shown, setShown] = useState<ReplayState>();
  const [problem, setProblem] = useState('');
  const [isRunning, setIsRunning] = useState(false);
  const current = useRef({ isStarted: false });
  const reset = (): void => {
    current.current = { isStarted: false };
    setIsRunning(false);
    setShown(undefined);
    setProblem('');
  };
  const step = async (count: number): Promise<void> => {
    const own = current.current;
    try {
      if (!own.isStarted) await engine.ask('replayStart', view.checked.request, state.timezone, options);
      own.isStarted = true;
      const next = await engine.ask('replayGoOn', count);
      // Meanwhile another one may have been asked for.
      if (own !== current.current) return;
      setShown(next);
      if (next.end !== undefined) setIsRunning(false);
    } catch (error) {
      setProblem(messageOf(error));
      setIsRunning(false);
    }
  };
  useEffect(reset, [options.allowedLateness, options.delayMsMax, state.draft, state.sets, state.timezone]);
  useEffect(() => {
    if (!isRunning) return;
    let isOver = false;
    // Each step waits for the one before, so that a slow one is not overtaken.
    const goOn = async (): Promise<void> => {
      if (isOver) return;
      await step(Math.max(1, Math.round((options.samplesPerSecond * TICK_MS) / 1000)));
      setTimeout(goOn, TICK_MS);
    };
    void goOn();
    return () => {
      isOver = true;
    };
  }, [isRunning, options.samplesPerSecond]);
  const play = (): void => {
    if (shown?.end !== undefined) reset();
    setIsRunning(true);
  };
  return { shown, problem, isRunning, play, pause: () => setIsRunning(false), step, reset };
}

const CHART_HEIGHT = 380;
const CHART_WIDTH_MAX = 1100;
/** The margins beside the chart. */
const MARGINS_WIDTH = 50;

function ReplayChart({ shown }: { readonly shown: ReplayState }) {
  const { view } = useWorkbench();
  const { results, watermarkMs, newestMs, lateMs } = shown;
  const lines = results.flatMap((result, index) => {
    const shared = { colour: lineColour(index), isStepped: false };
    return [
      { ...shared, name: nameOf(result), line: result.final },
      ...(result.preview.timeMs.length === 0
        ? []
        : [{ ...shared, name: `${nameOf(result)}, not final`, line: result.preview, isDashed: true }]),
    ];
  });
  // Windows begin before their first sample.
  const fromMs = Math.min(shown.extent.fromMs, ...lines.map(({ line }) => line.timeMs[0] ?? Number.POSITIVE_INFINITY));
  const untilMs = Math.max(fromMs + 1, shown.extent.untilMs);
  const bad = lineColour(1);
  const svg = drawSvg({
    lines,
    fromMs,
    untilMs,
    timezone: view.chartZone,
    width: Math.min(CHART_WIDTH_MAX, document.documentElement.clientWidth - MARGINS_WIDTH),
    height: CHART_HEIGHT,
    colours: pageColours(),
    marks: Number.isFinite(watermarkMs)
      ? [
          { timeMs: watermarkMs, label: 'watermark', colour: lineColour(2) },
          { timeMs: newestMs, label: '', colour: lineColour(6) },
        ]
      : [],
    ticks: lateMs.map((timeMs) => ({ timeMs, colour: bad })),
  });
  // Its texts are escaped where it is drawn.
  return <div class="replay-chart" dangerouslySetInnerHTML={{ __html: svg }} />;
}

function ReplayFigures({ shown }: { readonly shown: ReplayState }) {
  const { view } = useWorkbench();
  const { arrived, total, watermarkMs, newestMs, heldBack, lateCount, results, end } = shown;
  const finalCount = results.reduce((sum, result) => sum + result.finalCount, 0);
  const previewCount = results.reduce(
    (sum, { preview }) => sum + preview.timeMs.filter((_, i) => !Number.isNaN(preview.value[i])).length,
    0,
  );
  const figures: readonly (readonly [what: string, value: string])[] = [
    ['Arrived', `${countText(arrived)} of ${countText(total)}`],
    ['Newest sample', timeText(newestMs, view.chartZone)],
    ['Watermark: nothing before it is taken any more', timeText(watermarkMs, view.chartZone)],
    ['Held back, until their order is certain', countText(heldBack)],
    ['Came too late for any result', countText(lateCount)],
    ['Final results', countText(finalCount)],
    ['Results if the stream closed now', end === undefined ? countText(previewCount) : '0'],
  ];
  return (
    <table class="figures">
      <caption class="hidden">How far the replay has come</caption>
      <tbody>
        {figures.map(([what, value]) => (
          <tr key={what}>
            <th scope="row">{what}</th>
            <td class="number">{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function stateText({ arrived, total, lateCount, end }: ReplayState): string {
  if (end === undefined) return `${countText(arrived)} of ${counted(total, 'sample')} have arrived.`;
  const { compared, different, differentWithLate } = end;
  const compares =
    different === 0
      ? `The end is the same: all ${counted(compared, 'result')} of the stream equal those of one batch ` +
        'over the samples that it took, bit for bit.'
      : `${counted(different, 'result')} of ${countText(compared)} differ from one batch.`;
  if (lateCount === 0) return compares;
  const late = counted(lateCount, 'late sample');
  return `${compares} A batch that had the ${late} too would differ in ${counted(differentWithLate, 'result')}.`;
}
