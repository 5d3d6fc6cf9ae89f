/**
 * The number of cases that this run tries of a law's `count`: a quarter, so that `npm test` stays short. `FC_RUNS`
 * sets the factor: `npm run test:laws` tries all, `FC_RUNS=20` twenty times as many.
 */
export const casesOf = (count: number): number => Math.ceil(count * Number(process.env.FC_RUNS ?? 1 / 4))
