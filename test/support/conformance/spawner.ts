import { replace, returns } from '../mutations/edits.ts'
import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const spawner = 'test/runtime/tree/spawner.test.ts'
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
      'domain/external/spawn/runtime/recursive-spawner.ts',
      '#add',
      replace('condition', '#maxDepth', '$ + 1'),
    ),
  },
  {
    rule,
    says: 'three spawned agents are at work at once',
    test: spawner,
    name: 'three are at work at once',
    fault: fault(
      'domain/external/spawn/runtime/recursive-spawner.ts',
      'constructor',
      replace('entry', 'maxConcurrent', '$ + 1'),
    ),
  },
  {
    rule,
    says: 'a result with onComplete merge goes to the merge of the parent alone',
    test: spawner,
    name: 'merge gives the result',
    fault: fault('domain/external/spawn/runtime/recursive-spawner.ts', 'merge', replace('call', 'filter', '$0')),
  },
  {
    rule,
    says: 'the order in which results come changes no merge',
    test: spawner,
    name: 'custom, which gets the results',
    fault: fault(
      'domain/external/spawn/runtime/recursive-spawner.ts',
      'merge',
      replace('value', 'children', '$.reverse()'),
    ),
  },
  {
    rule,
    says: 'a vote takes the most frequent answer',
    test: merges,
    name: 'vote takes',
    fault: fault('domain/external/spawn/merge.ts', 'voted', replace('operator', '> best', '<')),
  },
  {
    rule,
    says: 'a summary has at most 2,000 characters',
    test: merges,
    name: 'summarize has at most',
    fault: fault('domain/external/spawn/merge.ts', 'SUMMARY_CHARACTERS', returns('2_100')),
  },
]
