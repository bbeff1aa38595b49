import type { SeriesInfo } from '../../../src/storage/samples/samples.js';
import type { SampleStore } from '../../../src/storage/samples/store.js';
import type { Reader } from '../../../src/storage/storage.js';

/** All series of an organisation, as one reader sees them. */
export async function listAll(
  samples: SampleStore,
  tx: Reader,
  organisation: string,
  options: { readonly timeseriesId?: string } = {},
): Promise<SeriesInfo[]> {
  const all: SeriesInfo[] = [];
  for (;;) {
    const after = all.at(-1);
    const { infos, isAll } = await samples.list(tx, organisation, { ...options, ...(after && { after }) });
    all.push(...infos);
    if (isAll) return all;
  }
}
