import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const books = 'test/runtime/tree-books.test.ts'
const hostile = 'test/domain/tree-hostile.test.ts'
const rule = 'trees of agents'

/** Rules between a parent and its children beyond the MUSTs (CONTRACTS 4). */
export const TREES: readonly Rule[] = [
  {
    rule,
    says: 'a top-up is added to the budget of the child that asked',
    test: books,
    name: 'is given more by its parent',
    fault: fault('agent/state/evolve-tree.ts', 'family.received[kind] + grant[kind]', 'family.received[kind]'),
  },
  {
    rule,
    says: 'a top-up that is brought again adds nothing',
    test: books,
    name: 'gives the child no more and no less',
    fault: fault('courier/delivery.ts', 'if (rank <= accepted) return false', 'if (rank < 0) return false'),
  },
  {
    rule,
    says: 'an end that is brought again settles nothing',
    test: books,
    name: 'is settled once by the next process',
    fault: fault('courier/delivery.ts', 'if (rank <= accepted) return false', 'if (rank < 0) return false'),
  },
  {
    rule,
    says: 'a settled child has nothing reserved any more',
    test: books,
    name: 'is settled once by the next process',
    fault: fault(
      'agent/state/evolve-tree.ts',
      'return changed({ children: without(family, childId), asks',
      'return changed({ asks',
    ),
  },
  {
    rule,
    says: 'usage that arrives after the end is reported to the parent',
    test: 'test/runtime/tree-late.test.ts',
    fault: fault('agent/decide/reports.ts', 'if (!isEmptyReport(delta))', 'if (delta === null)'),
  },
  {
    rule,
    says: "the tables show an artifact as the child's, registered with its parent",
    test: 'test/runtime/tree-artifacts.test.ts',
    fault: {
      file: 'projections/engine/schema/views.ts',
      search: 'where g.child_id = r.agent_id and',
      replace: 'where g.child_id <> r.agent_id and',
    },
  },
  {
    rule,
    says: 'messages flood no agent',
    test: hostile,
    name: 'takes what its context has room for',
    fault: fault('agent/state/bus-rules.ts', 'if (unread === 0 || bytes', 'if (unread >= 0 || bytes'),
  },
  {
    rule,
    says: 'publications flood no agent, the root included',
    test: hostile,
    name: 'are not flooded either',
    fault: fault(
      'agent/decide/decide-messages.ts',
      'const refused = whyNoRoom(d.state, payload)',
      'const refused = null',
    ),
  },
  {
    rule,
    says: 'a call names so many artifacts at most',
    test: hostile,
    name: '4,000 artifacts',
    fault: fault('agent/control/control-tool.ts', 'artifacts.length <= MAX_ARTIFACTS', 'artifacts.length >= 0'),
  },
  {
    rule,
    says: 'a subscriber of which one message bounces hears its topics still',
    test: 'test/domain/messages.test.ts',
    name: 'it still hears its topic',
    fault: fault('courier/delivery.ts', "code === 'BOUNCED' && 'runId'", "code === 'GONE' && 'runId'"),
  },
]
