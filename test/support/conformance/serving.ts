import { drop, replace, returns } from '../mutations/edits.ts'
import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const rule = 'long work and the event loop'

/** Long work on large or hostile input runs in steps, in a thread, or once. */
export const SERVING: readonly Rule[] = [
  {
    rule,
    says: 'texts that differ much are compared in a thread',
    test: 'test/api/operations/text-diff-apart.test.ts',
    name: 'leaves the event loop to others',
    fault: fault('api/operations/files/diff/threaded-diff.ts', 'SHORT', returns('Infinity')),
  },
  {
    rule,
    says: 'two runs are compared in steps',
    test: 'test/behaviour/history/5.9-compared-runs.test.ts',
    name: 'takes a step for each event and each place',
    fault: fault('domain/agent/rules/causal-history.ts', 'causalHistoryOf', drop('statement', 'yield')),
  },
  {
    rule,
    says: 'messages of a long run are hashed page by page',
    test: 'test/runtime/load.test.ts',
    name: 'messages are hashed while they are read',
    fault: fault('domain/agent/runtime/mailbox.ts', 'push', drop('statement', 'settle')),
  },
  {
    rule,
    says: 'very many secrets of one text cost one look at the key of the vault',
    test: 'test/adapters/vault/vault.test.ts',
    name: 'keeps very many references',
    fault: fault('adapters/vault/reference-file.ts', 'add', replace('call', 'nameOf', '(cipher.sealing(), $)')),
  },
  {
    rule,
    says: 'a redacted stream tells each reference once',
    test: 'test/domain/security.test.ts',
    fault: fault('domain/secrets/redactor.ts', 'taken', drop('statement', 'Map')),
  },
  {
    rule,
    says: 'a folder that nothing has changed is not versioned again for the next run',
    test: 'test/adapters/workspace/reopened.test.ts',
    name: 'is only listed',
    fault: fault('adapters/workspace/shadow.ts', 'snapshotFrom', replace('call', 'get', 'undefined')),
  },
]
