import { useEffect } from 'preact/hooks';

/** Keeps the keyboard where it was when what had the focus is gone: a step that was removed, a button now disabled. */
export function useKeptFocus(): void {
  useEffect(() => {
    let path: HTMLElement[] = [];
    const note = ({ target }: FocusEvent): void => {
      path = [];
      for (let one = target as HTMLElement | null; one !== null; one = one.parentElement) path.push(one);
    };
    const keep = (): void => {
      const [last] = path;
      if (last === undefined || ![last, document.body].includes(document.activeElement as HTMLElement)) return;
      if (isThere(last)) return;
      const near = path.find((one) => one.matches('li, section, dialog, main') && isThere(one));
      const next = near ?? document.querySelector('main')!;
      next.tabIndex = -1;
      next.focus({ preventScroll: true });
    };
    addEventListener('focusin', note);
    const observer = new MutationObserver(keep);
    observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled', 'hidden'] });
    return () => {
      removeEventListener('focusin', note);
      observer.disconnect();
    };
  }, []);
}

function isThere(element: HTMLElement): boolean {
  return element.isConnected && !element.matches(':disabled, [hidden] *');
}

/** Takes the keyboard to the first of these that is there once the page has been drawn anew. */
export function focusSoon(...selectors: readonly string[]): void {
  requestAnimationFrame(() => {
    const found = selectors.map((one) => document.querySelector<HTMLElement>(`${one}:not(:disabled)`));
    found.find((one) => one !== null)?.focus();
  });
}
