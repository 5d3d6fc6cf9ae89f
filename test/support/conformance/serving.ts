import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const rule = 'long work and the event loop'
const inFile = (file: string, search: string, replace: string) => ({ file, search, replace })

/** Long work on large or hostile input runs in steps, in a thread, or once. */
export const SERVING: readonly Rule[] = [
  {
    rule,
    says: 'texts that differ much are compared in a thread',
    test: 'test/api/text-diff-apart.test.ts',
    name: 'leaves the event loop to others',
    fault: inFile('api/operations/files/diff/threaded-diff.ts', 'const SHORT = 2_048', 'const SHORT = 2_048_000_000'),
  },
  {
    rule,
    says: 'two runs are compared in steps',
    test: 'test/behaviour/5.9-compared-runs.test.ts',
    name: 'takes a step for each event and each place',
    fault: fault('agent/rules/compare-histories.ts', '    yield\n    places.push', '    places.push'),
  },
  {
    rule,
    says: 'messages of a long run are hashed page by page',
    test: 'test/runtime/load.test.ts',
    name: 'messages are hashed while they are read',
    fault: fault('agent/runtime/mailbox.ts', 'if (++this.pushed % HASHED_EVENTS === 0) this.settle()', ''),
  },
  {
    rule,
    says: 'very many secrets of one text cost one look at the key of the vault',
    test: 'test/adapters/vault/vault.test.ts',
    name: 'keeps very many references',
    fault: inFile(
      'adapters/vault/reference-file.ts',
      'const name = held.nameOf(text)',
      'cipher.sealing()\n        const name = held.nameOf(text)',
    ),
  },
  {
    rule,
    says: 'a redacted stream tells each reference once',
    test: 'test/domain/security.test.ts',
    fault: fault('secrets/redactor.ts', '      made = new Map()\n      return all', '      return all'),
  },
  {
    rule,
    says: 'a folder that nothing has changed is not versioned again for the next run',
    test: 'test/adapters/workspace/reopened.test.ts',
    name: 'is only listed',
    fault: inFile(
      'adapters/workspace/shadow.ts',
      'const last = lasts.get(key)',
      'const last = undefined as { tree: string; index: string } | undefined',
    ),
  },
]
