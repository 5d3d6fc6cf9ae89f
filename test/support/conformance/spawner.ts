import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const spawner = 'test/runtime/spawner.test.ts'
const merges = 'test/domain/spawn/merge.test.ts'
const rule = 'seed 004'

/** The requirements of seed 004 (CONTRACTS 14) on spawned agents and their merges. */
export const SPAWNER: readonly Rule[] = [
  {
    rule,
    says: 'spawned agents have a depth of 3 at most',
    test: spawner,
    name: 'depth 4 is rejected',
    fault: fault(
      'external/spawn/runtime/recursive-spawner.ts',
      'if (depth > this.#maxDepth)',
      'if (depth > this.#maxDepth + 1)',
    ),
  },
  {
    rule,
    says: 'three spawned agents are at work at once',
    test: spawner,
    name: 'three are at work at once',
    fault: fault(
      'external/spawn/runtime/recursive-spawner.ts',
      'options.maxConcurrent ?? 3',
      'options.maxConcurrent ?? 4',
    ),
  },
  {
    rule,
    says: 'a result with onComplete merge goes to the merge of the parent alone',
    test: spawner,
    name: 'merge gives the result',
    fault: fault(
      'external/spawn/runtime/recursive-spawner.ts',
      ".children.filter(({ agent }) => agent.config.onComplete === 'merge')",
      '.children',
    ),
  },
  {
    rule,
    says: 'the order in which results come changes no merge',
    test: spawner,
    name: 'custom, which gets the results',
    fault: fault(
      'external/spawn/runtime/recursive-spawner.ts',
      'const children = nodes.map(childResult)',
      'const children = nodes.map(childResult).reverse()',
    ),
  },
  {
    rule,
    says: 'a vote takes the most frequent answer',
    test: merges,
    name: 'vote takes',
    fault: fault(
      'external/spawn/merge.ts',
      'if (one.count > best.count) best = one',
      'if (best.count === 0) best = one',
    ),
  },
  {
    rule,
    says: 'a summary has at most 2,000 characters',
    test: merges,
    name: 'summarize has at most',
    fault: fault(
      'external/spawn/merge.ts',
      'export const SUMMARY_CHARACTERS = 2_000',
      'export const SUMMARY_CHARACTERS = 2_100',
    ),
  },
]
