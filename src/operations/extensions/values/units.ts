import type { Linear } from '../../../kernels/linear.js';

/**
 * Units by name. A value is (value × factor + offset) ÷ divisor in the first unit of its quantity, in whole numbers, so
 * a conversion is one exact formula and one rounding. The factors define the units (source: NIST SP 811).
 */
type Unit = readonly [factor: number, divisor?: number, offset?: number];

const CELSIUS: Unit = [100, 100, 27_315];
const FAHRENHEIT: Unit = [500, 900, 229_835];

const QUANTITIES: Readonly<Record<string, Readonly<Record<string, Unit>>>> = {
  temperature: { K: [1], degC: CELSIUS, '°C': CELSIUS, degF: FAHRENHEIT, '°F': FAHRENHEIT, degR: [5, 9] },
  power: {
    W: [1],
    mW: [1, 1e3],
    kW: [1e3],
    MW: [1e6],
    GW: [1e9],
    PS: [73_549_875, 1e5],
    'BTU/h': [52_752_792_631, 18e10],
    tonRefrigeration: [52_752_792_631, 15e6],
  },
  energy: {
    J: [1],
    kJ: [1e3],
    MJ: [1e6],
    GJ: [1e9],
    Wh: [3600],
    kWh: [3.6e6],
    MWh: [3.6e9],
    GWh: [3.6e12],
    cal: [4184, 1e3],
    kcal: [4184],
    BTU: [52_752_792_631, 5e7],
    therm: [52_752_792_631, 500],
  },
  pressure: {
    Pa: [1],
    hPa: [100],
    kPa: [1e3],
    MPa: [1e6],
    mbar: [100],
    bar: [1e5],
    atm: [101_325],
    psi: [8_896_443_230_521, 1_290_320_000],
    mmHg: [133_322_387_415, 1e9],
    inHg: [3_386_388_640_341, 1e9],
    mmH2O: [980_665, 1e5],
    inH2O: [24_908_891, 1e5],
  },
  flow: {
    'm3/s': [1],
    'm³/s': [1],
    'm3/h': [1, 3600],
    'm³/h': [1, 3600],
    'L/s': [1, 1e3],
    'L/min': [1, 6e4],
    'L/h': [1, 3.6e6],
    cfm: [28_316_846_592, 6e13],
    gpm: [3_785_411_784, 6e13],
  },
  volume: { m3: [1], 'm³': [1], L: [1, 1e3], mL: [1, 1e6], ft3: [28_316_846_592, 1e12], gal: [3_785_411_784, 1e12] },
  length: {
    m: [1],
    mm: [1, 1e3],
    cm: [1, 100],
    km: [1e3],
    in: [254, 1e4],
    ft: [3048, 1e4],
    yd: [9144, 1e4],
    mi: [1_609_344, 1e3],
  },
  area: { m2: [1], 'm²': [1], cm2: [1, 1e4], ha: [1e4], ft2: [9_290_304, 1e8] },
  mass: { kg: [1], g: [1, 1e3], mg: [1, 1e6], t: [1e3], lb: [45_359_237, 1e8], oz: [45_359_237, 16e8] },
  speed: { 'm/s': [1], 'km/h': [5, 18], mph: [44_704, 1e5], kn: [463, 900], 'ft/min': [3048, 6e5] },
  time: { s: [1], ms: [1, 1e3], min: [60], h: [3600], d: [86_400] },
  frequency: { Hz: [1], kHz: [1e3], MHz: [1e6], rpm: [1, 60] },
  current: { A: [1], mA: [1, 1e3], kA: [1e3] },
  voltage: { V: [1], mV: [1, 1e3], kV: [1e3] },
  share: { '1': [1], '%': [1, 100], ppm: [1, 1e6], ppb: [1, 1e9] },
  illuminance: { lx: [1], fc: [100_000_000, 9_290_304] },
};

/** The names of all units. */
export const unitNames: readonly string[] = Object.values(QUANTITIES).flatMap((units) => Object.keys(units));

/** What a unit measures. */
export function quantityOf(unit: string): string | undefined {
  return Object.keys(QUANTITIES).find((name) => QUANTITIES[name]?.[unit] !== undefined);
}

/** The units of a quantity. */
export function unitsOf(quantity: string): readonly string[] {
  return Object.keys(QUANTITIES[quantity] ?? {});
}

/** The conversion between two units of one quantity, in lowest terms. */
export function conversion(from: string, to: string): Linear {
  const [factor, divisor, offset] = partsOf(from);
  const [toFactor, toDivisor, toOffset] = partsOf(to);
  // ((x × factor + offset) ÷ divisor × toDivisor − toOffset) ÷ toFactor
  const terms = [factor * toDivisor, offset * toDivisor - toOffset * divisor, divisor * toFactor] as const;
  const common = greatestCommonDivisor(greatestCommonDivisor(terms[0], terms[1]), terms[2]);
  return { factor: terms[0] / common, offset: terms[1] / common, divisor: terms[2] / common };
}

function partsOf(unit: string): readonly [factor: bigint, divisor: bigint, offset: bigint] {
  const [factor, divisor = 1, offset = 0] = QUANTITIES[quantityOf(unit) ?? '']?.[unit] ?? [0];
  if (factor === 0) throw new Error(`assertion failed: no unit ${unit}`);
  return [BigInt(factor), BigInt(divisor), BigInt(offset)];
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  if (b !== 0n) return greatestCommonDivisor(b, a % b);
  return a < 0n ? -a : a;
}
