import { useEffect, useRef, useState } from 'preact/hooks';
import { LargeChart } from '../chart/large-chart.js';
import type { SeriesInfo } from '../engine/protocol.js';
import { focusSoon } from '../focus.js';
import { useWorkbench } from '../state.js';
import { ServiceClient, type SignIn } from './api.js';
import { type AskedEvents, EventsPanel } from './events-panel.js';
import { ProblemLines } from './problem-lines.js';
import { RunPanel } from './run-panel.js';
import type { Sent } from './sending.js';
import { SeriesPanel, type StoredRange } from './series-panel.js';
import { useProblem } from './use-problem.js';

/** The service that the page came from: its series, the pipeline in it, and events. */
export function ServicePanel({ isShown }: { readonly isShown: boolean }) {
  const [client, setClient] = useState<ServiceClient>();
  const { lines, attempt, report } = useProblem();
  const signIn = async (how: SignIn): Promise<void> => {
    if (await attempt(async () => setClient(await ServiceClient.signIn(how)))) focusSoon('.service');
  };
  useSignInLink(signIn);
  /** The number of requests that have ended or follow new samples: each may have stored new series. */
  const [endedCount, setEndedCount] = useState(0);
  const sent = useRef(new WeakMap<SeriesInfo, Sent>());
  // What was typed outlives a token, too.
  const range = useState<StoredRange>({ startTime: '', endTime: '' });
  const asked = useState<AskedEvents>({ collection: '', $filter: '', $orderby: '' });
  const { state } = useWorkbench();
  if (client === undefined) return <SignInForm lines={lines} onSignIn={signIn} />;
  const signOut = (): void => {
    client.isEnded = true;
    setClient(undefined);
    focusSoon('.sign-in input');
  };
  const onSignedOut = (): void => {
    // A late answer must not end the next sign-in.
    if (client.isEnded) return;
    signOut();
    report('The sign-in has ended: sign in again.');
  };
  return (
    <div class="service" tabIndex={-1}>
      <div class="row">
        <p class="faint">Signed in; this page alone keeps the token.</p>
        <span class="spring" />
        <button type="button" onClick={signOut}>
          Sign out
        </button>
      </div>
      <RunPanel
        client={client}
        onSignedOut={onSignedOut}
        sent={sent.current}
        onEnded={() => setEndedCount((count) => count + 1)}
      />
      {isShown && state.sets.length > 0 && <LargeChart />}
      <SeriesPanel client={client} onSignedOut={onSignedOut} endedCount={endedCount} wanted={range} />
      <EventsPanel client={client} onSignedOut={onSignedOut} wanted={asked} />
    </div>
  );
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Signs in by the link that `windrow serve --demo` prints, `#sign-in=ID:SECRET`. Browsers do not send what is behind
 * the #, and it is removed from the address at once. On another machine's service such a link does nothing: its sender
 * could have others work in the sender's organisation.
 */
function useSignInLink(signIn: (how: SignIn) => void): void {
  useEffect(() => {
    const read = (event?: HashChangeEvent): void => {
      const [, clientId, clientSecret] = /^#sign-in=([\w-]+):([\w-]+)$/.exec(location.hash) ?? [];
      if (clientId === undefined || clientSecret === undefined) return;
      history.replaceState(null, '', event?.oldURL ?? location.pathname);
      if (LOOPBACK.test(location.hostname)) signIn({ clientId, clientSecret, username: '', password: '' });
    };
    read();
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);
}

interface SignInProps {
  readonly lines: readonly string[];
  readonly onSignIn: (how: SignIn) => void;
}

function SignInForm({ lines, onSignIn }: SignInProps) {
  return (
    <section class="panel sign-in" aria-labelledby="sign-in-title">
      <h2 id="sign-in-title">Sign in to the service</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const data = new FormData(event.currentTarget);
          const of = (name: string): string => String(data.get(name) ?? '');
          const words = { clientId: of('client').trim(), clientSecret: of('secret').trim() };
          onSignIn({ ...words, username: of('username').trim(), password: of('password') });
        }}
        onPaste={(event) => {
          // The two lines that the command prints, pasted into one field, fill both.
          const words = event.clipboardData?.getData('text').match(/[\w-]{36,}/g);
          if (words?.length !== 2) return;
          event.preventDefault();
          for (const [index, input] of event.currentTarget.querySelectorAll('input').entries()) {
            if (index < 2) input.value = words[index]!;
          }
        }}
      >
        <label class="field">
          <span>Client id</span>
          <input name="client" list={undefined} required autocomplete="off" />
        </label>
        <label class="field">
          <span>Client secret</span>
          <input name="secret" type="password" required autocomplete="off" />
        </label>
        <details>
          <summary>As a user</summary>
          <label class="field">
            <span>User name</span>
            <input name="username" list={undefined} autocomplete="off" />
          </label>
          <label class="field">
            <span>Password</span>
            <input name="password" type="password" autocomplete="off" />
          </label>
        </details>
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
      <ProblemLines lines={lines} />
      <p class="help">
        <code>windrow serve --demo</code> prints a link that signs you in. <code>windrow client add</code> makes a
        client: copy both lines that it prints, and paste them into the first field.
      </p>
    </section>
  );
}
