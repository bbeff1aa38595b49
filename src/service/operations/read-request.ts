import { createPlan, type Issue, type Plan, RequestError } from '../../index.js';
import { badRequest } from '../errors.js';
import { inTurns } from '../in-turns.js';
import { nameProblem } from '../timeseries/read-json.js';
import { ITEMS_A_TURN, type ItemDefinition, splitRequest } from './split-request.js';

/** Items of one request, and steps of all their plans together: an item's plan has those of the items it reads too. */
const ITEMS_MAX = 1000;
const STEPS_MAX = 20_000;

export interface OperationsRequest {
  readonly plan: Plan;
  readonly definitions: readonly ItemDefinition[];
}

/** Checks the body of `POST /operations` (interface 2.5). @throws RequestError, ServiceError 400 */
export async function readOperations(body: unknown): Promise<OperationsRequest> {
  if (Array.isArray(body) && body.length > ITEMS_MAX) throw tooLarge(`${ITEMS_MAX} items`, `${body.length}`);
  const plan = createPlan(body);
  checkNames(plan);
  const definitions: ItemDefinition[] = [];
  let stepCount = 0;
  for await (const definition of inTurns(splitRequest(plan), ITEMS_A_TURN)) {
    stepCount += definition.plan.steps.length;
    if (stepCount > STEPS_MAX) throw tooLarge(`${STEPS_MAX} steps, with those of the items read counted again`, 'more');
    definitions.push(definition);
  }
  return { plan, definitions };
}

// Results are series of the store, and have names like these.
function checkNames({ items }: Plan): void {
  const issues = items.flatMap(({ output }, index): Issue[] => {
    const names = { '/metric': output.metric, '/operations': output.timeseriesId };
    return Object.entries(names).flatMap(([below, name]) => {
      const expected = nameProblem(name);
      if (expected === undefined) return [];
      return [{ pointer: `/${index}${below}`, code: 'request.value', expected, received: JSON.stringify(name) }];
    });
  });
  if (issues.length > 0) throw new RequestError(issues);
}

function tooLarge(most: string, received: string) {
  const expected = `at most ${most}`;
  return badRequest(`the request is too large: expected ${expected}, received ${received}; send it in parts`, {
    issues: [{ pointer: '', code: 'request.range', expected, received }],
  });
}
