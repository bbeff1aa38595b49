import { ServiceError } from '../errors.js';

/** One fault of a body of samples. */
export interface SampleIssue {
  /** JSON pointer into the body. */
  readonly pointer?: string;
  /** Line of a body that is read line by line, from 1. */
  readonly line?: number;
  readonly expected: string;
  readonly received: string;
}

/** So many faults are told one by one; all are counted. */
const SHOWN_ISSUES_MAX = 100;

/** The faults of a body, for one answer that names them. */
export interface SampleIssues {
  readonly shown: SampleIssue[];
  count: number;
}

export function createSampleIssues(): SampleIssues {
  return { shown: [], count: 0 };
}

export function addIssue(issues: SampleIssues, issue: SampleIssue): void {
  issues.count++;
  if (issues.shown.length < SHOWN_ISSUES_MAX) issues.shown.push(issue);
}

/** 400 with every fault, when there is one. @param stored samples of the body that are stored already. */
export function refuseIssues({ shown, count }: SampleIssues, stored: number): void {
  const [first] = shown;
  if (first === undefined) return;
  const { line, pointer } = first;
  const place =
    line === undefined ? pointer || 'the body' : `line ${line}${pointer === undefined ? '' : ` ${pointer}`}`;
  const more = count === 1 ? '' : `, and ${count - 1} more`;
  const kept =
    stored === 0 ? 'nothing was stored' : `${stored} samples before it are stored; sending all again is safe`;
  const message = `${place}: expected ${first.expected}, received ${first.received}${more}; ${kept}`;
  throw new ServiceError(400, message, { details: { issues: shown, issueCount: count, samplesStored: stored } });
}
