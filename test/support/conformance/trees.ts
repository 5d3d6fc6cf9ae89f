import { drop, replace, reworded } from '../mutations/edits.ts'
import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const books = 'test/runtime/tree/tree-books.test.ts'
const hostile = 'test/domain/tree-hostile.test.ts'
const rule = 'trees of agents'

/** Rules between a parent and its children beyond the MUSTs (CONTRACTS 4). */
export const TREES: readonly Rule[] = [
  {
    rule,
    says: 'a top-up is added to the budget of the child that asked',
    test: books,
    name: 'is given more by its parent',
    fault: fault('domain/agent/state/evolve-tree.ts', 'answered', drop('operand', 'grant kind')),
  },
  {
    rule,
    says: 'a top-up that is brought again adds nothing',
    test: books,
    name: 'gives the child no more and no less',
    fault: fault('domain/courier/delivery-commands.ts', 'isNew', replace('condition', 'rank', 'false')),
  },
  {
    rule,
    says: 'an end that is brought again settles nothing',
    test: books,
    name: 'is settled once by the next process',
    fault: fault('domain/courier/delivery-commands.ts', 'isNew', replace('condition', 'rank', 'false')),
  },
  {
    rule,
    says: 'a settled child has nothing reserved any more',
    test: books,
    name: 'is settled once by the next process',
    fault: fault('domain/agent/state/evolve-tree.ts', 'evolveTree', drop('entry', 'without')),
  },
  {
    rule,
    says: 'usage that arrives after the end is reported to the parent',
    test: 'test/runtime/tree/tree-late.test.ts',
    fault: fault('domain/agent/decide/report-to-parent.ts', 'report', replace('condition', 'isEmptyReport', 'false')),
  },
  {
    rule,
    says: "the tables show an artifact as the child's, registered with its parent",
    test: 'test/runtime/tree/tree-artifacts.test.ts',
    fault: fault('projections/engine/schema/views.ts', 'artifacts', reworded('g.child_id =', 'g.child_id <>')),
  },
  {
    rule,
    says: 'messages flood no agent',
    test: hostile,
    name: 'takes what its context has room for',
    fault: fault('domain/agent/state/message-limits.ts', 'whyNoRoom', replace('operand', 'unread', 'true')),
  },
  {
    rule,
    says: 'publications flood no agent, the root included',
    test: hostile,
    name: 'are not flooded either',
    fault: fault('domain/agent/decide/decide-messages.ts', 'distribute', replace('call', 'whyNoRoom', 'null')),
  },
  {
    rule,
    says: 'a call names so many artifacts at most',
    test: hostile,
    name: '4,000 artifacts',
    fault: fault(
      'domain/agent/control/control-tool.ts',
      'artifactsFault',
      replace('condition', 'MAX_ARTIFACTS', 'true'),
    ),
  },
  {
    rule,
    says: 'a subscriber of which one message bounces hears its topics still',
    test: 'test/domain/messages.test.ts',
    name: 'it still hears its topic',
    fault: fault('domain/courier/delivery-commands.ts', 'asBounce', replace('word', 'BOUNCED', 'GONE')),
  },
]
