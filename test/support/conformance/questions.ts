import { drop, replace, reworded } from '../mutations/edits.ts'
import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const ASKED = 'test/api/audit/ask-sql.test.ts'

/** Questions in SQL, and figures. */
export const QUESTIONS: readonly Rule[] = [
  {
    rule: 'questions in SQL',
    says: 'they reach nothing but the tables and the views over the log',
    test: ASKED,
    fault: fault('api/process/embedded/sql/statement.ts', 'onlyReading', replace('operand', 'log', 'true')),
  },
  {
    rule: 'questions in SQL',
    says: 'one that never ends is ended at its limit, and said so',
    test: ASKED,
    fault: fault(
      'api/process/embedded/sql/process-auditor.ts',
      '#ask',
      replace('call', 'timeout', '$0.timeout(100 * $1)'),
    ),
  },
  {
    rule: 'questions in SQL',
    says: 'an answer has no more rows than were asked for',
    test: 'test/api/servers/ask-sql.test.ts',
    fault: fault('api/operations/sql/auditor.ts', 'add', drop('operand', '#most')),
  },
  {
    rule: 'questions in SQL',
    says: 'on servers they go through a login that can only read',
    test: 'test/api/servers/ask-sql.test.ts',
    fault: fault('api/process/servers/sql-auditor.ts', 'ask', drop('statement', '#mustOnlyRead')),
  },
  {
    rule: 'numbers',
    says: 'percentiles are the nearest rank of the calls that have a time',
    test: 'test/projections/queries.test.ts',
    fault: fault('projections/agent/queries/numbers/calls.ts', 'percentile', reworded('99', '199')),
  },
]
