import packageJson from '../../../package.json' with { type: 'json' };

/** What results and checkpoints were computed by. Those of another version are computed anew. */
export const ENGINE_VERSION: string = packageJson.version;
