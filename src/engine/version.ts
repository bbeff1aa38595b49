/**
 * The version of the package that last changed what the engine computes: a result, or what a checkpoint means without a
 * new version of its own. The service computes items again that another version has computed, each from its base: who
 * changes a result sets this to the next version of the package, with the hash in test/golden/versions.json.
 */
export const ENGINE_VERSION = '0.1.0';
