import type { Rule } from './rules.ts'

const ASKED = 'test/api/ask-sql.test.ts'

/** Questions in SQL, and figures. */
export const QUESTIONS: readonly Rule[] = [
  {
    rule: 'questions in SQL',
    says: 'they reach nothing but the tables and the views over the log',
    test: ASKED,
    fault: {
      file: 'api/process/embedded/sql/statement.ts',
      search: "schema !== 'log' || view !== null",
      replace: 'schema !== undefined',
    },
  },
  {
    rule: 'questions in SQL',
    says: 'one that never ends is ended at its limit, and said so',
    test: ASKED,
    fault: {
      file: 'api/process/embedded/sql/process-auditor.ts',
      search: 'AbortSignal.timeout(ms)',
      replace: 'AbortSignal.timeout(100 * ms)',
    },
  },
  {
    rule: 'questions in SQL',
    says: 'an answer has no more rows than were asked for',
    test: 'test/api/servers/ask-sql.test.ts',
    fault: {
      file: 'api/operations/sql/auditor.ts',
      search: 'this.rows.length === this.#most || ',
      replace: '',
    },
  },
  {
    rule: 'questions in SQL',
    says: 'on servers they go through a login that can only read',
    test: 'test/api/servers/ask-sql.test.ts',
    fault: {
      file: 'api/process/servers/sql-auditor.ts',
      search: '      await this.#mustOnlyRead(client)\n',
      replace: '',
    },
  },
  {
    rule: 'numbers',
    says: 'percentiles are the nearest rank of the calls that have a time',
    test: 'test/projections/queries.test.ts',
    fault: {
      file: 'projections/agent/queries/numbers/calls.ts',
      search: '+ 99) / 100',
      replace: '+ 199) / 100',
    },
  },
]
