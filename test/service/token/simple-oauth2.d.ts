// Types for the parts of simple-oauth2 that tests use; the package has none.
declare module 'simple-oauth2' {
  interface Config {
    readonly client: { readonly id: string; readonly secret: string };
    readonly auth: { readonly tokenHost: string; readonly tokenPath: string; readonly revokePath: string };
    readonly options: {
      readonly authorizationMethod: 'header' | 'body';
      readonly credentialsEncodingMode: 'strict' | 'loose';
    };
  }

  interface AccessToken {
    readonly token: Readonly<Record<string, unknown>>;
    expired(): boolean;
    revoke(kind: 'access_token' | 'refresh_token'): Promise<void>;
  }

  export class ClientCredentials {
    constructor(config: Config);
    getToken(parameters: { readonly scope: string | readonly string[] }): Promise<AccessToken>;
  }

  export class ResourceOwnerPassword {
    constructor(config: Config);
    getToken(parameters: {
      readonly username: string;
      readonly password: string;
      readonly scope?: string;
    }): Promise<AccessToken>;
  }
}
