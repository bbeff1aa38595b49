/** An answer other than success, thrown by a route; the app makes it an envelope (interface 2.2). */
export class ServiceError extends Error {
  readonly statusCode: number;
  /** Goes into `data`: what is wrong where. */
  readonly details: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    statusCode: number,
    message: string,
    options: { details?: unknown; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.statusCode = statusCode;
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
  }
}

/** 400: what is wrong is in the request. */
export function badRequest(message: string, details?: unknown): ServiceError {
  return new ServiceError(400, message, { details });
}

/** 404. */
export function notFound(message: string): ServiceError {
  return new ServiceError(404, message);
}
