declare module 'pgpass' {
  export interface PasswordRequest {
    readonly host: string;
    readonly port: number;
    readonly database: string;
    readonly user: string;
  }

  /** Calls back with undefined if no line of the file fits, or others may read the file. */
  function findPassword(of: PasswordRequest, done: (password: string | undefined) => void): void;

  export = findPassword;
}
