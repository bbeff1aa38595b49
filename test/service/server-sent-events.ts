/** The data of events. Tests compare it, so nothing depends on this type being right. */
interface EventData {
  readonly timeseriesId?: string;
  readonly metric?: string;
  readonly samples: readonly { readonly timestamp: string; readonly val: number }[];
  readonly deleted?: { readonly startTime: string | null; readonly endTime: string | null };
  readonly reason?: string;
}

/** An event as a browser would deliver it (WHATWG HTML, section 9.2.6). */
export interface ReceivedEvent {
  readonly type: string;
  readonly data: EventData;
  /** What the browser would send as Last-Event-ID from now on. */
  readonly lastEventId: string;
}

export interface EventReader {
  /** The next event; undefined at the end of the stream. */
  next(): Promise<ReceivedEvent | undefined>;
  /** The current Last-Event-ID, which also advances without events. */
  readonly lastEventId: string;
  readonly comments: readonly string[];
  close(): Promise<void>;
}

/** Parses server-sent events line by line, as the standard says. */
export function readEvents(body: ReadableStream<Uint8Array>): EventReader {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const comments: string[] = [];
  let lastEventId = '';
  let text = '';
  let data: string[] = [];
  let type = '';
  const takeLine = (line: string): ReceivedEvent | undefined => {
    if (line === '') {
      const event =
        data.length === 0 ? undefined : { type, data: JSON.parse(data.join('\n')) as EventData, lastEventId };
      data = [];
      type = '';
      return event;
    }
    const [field = '', value = ''] = line.split(/:(?: |(?=[^ ])|$)(.*)/s);
    if (line.startsWith(':')) comments.push(line);
    else if (field === 'id') lastEventId = value;
    else if (field === 'event') type = value;
    else if (field === 'data') data.push(value);
    return undefined;
  };
  return {
    get lastEventId() {
      return lastEventId;
    },
    comments,
    next: async () => {
      for (;;) {
        for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
          const event = takeLine(text.slice(0, end));
          text = text.slice(end + 1);
          if (event !== undefined) return event;
        }
        const { value, done } = await reader.read();
        if (done) return undefined;
        text += value;
      }
    },
    close: () => reader.cancel(),
  };
}
