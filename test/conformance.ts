import { AGENTS } from './support/conformance/agents.ts'
import { DELEGATED } from './support/conformance/delegated.ts'
import { ENDING } from './support/conformance/ending.ts'
import { PAGE } from './support/conformance/page.ts'
import { QUESTIONS } from './support/conformance/questions.ts'
import { RECORDING } from './support/conformance/recording.ts'
import { REPEATING } from './support/conformance/repeating.ts'
import { RIGHTS } from './support/conformance/rights.ts'
import type { Row } from './support/conformance/row.ts'
import { RULES as OTHERS, type Rule } from './support/conformance/rules.ts'
import { SERVING } from './support/conformance/serving.ts'
import { SPAWN } from './support/conformance/spawn.ts'
import { SPAWNER } from './support/conformance/spawner.ts'
import { STRUCTURE } from './support/conformance/structure.ts'
import { TREES } from './support/conformance/trees.ts'

/** Every MUST of seed 000 by number, with who holds it. */
export const ROWS: readonly Row[] = [...ENDING, ...RECORDING, ...REPEATING, ...STRUCTURE]

export { LAWS } from './support/conformance/laws.ts'
/** Rules that no MUST and no law names by itself. */
export const RULES: readonly Rule[] = [
  ...OTHERS,
  ...AGENTS,
  ...DELEGATED,
  ...SPAWN,
  ...SERVING,
  ...SPAWNER,
  ...QUESTIONS,
  ...TREES,
  ...RIGHTS,
  ...PAGE,
]
