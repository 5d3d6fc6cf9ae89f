import { operation } from '../operation.ts'
import { savedQuestions } from './saved-questions.ts'
import { SavedQuestions } from './schemas.ts'

/** Questions in SQL. */
export const SQL_OPERATIONS = [
  operation({
    name: 'listSqlQuestions',
    http: 'GET /v1/sql/questions',
    right: 'tables.ask',
    summary: 'Questions that auditors ask, each with its SQL',
    input: {},
    output: SavedQuestions,
    answers: { 200: 'Questions' },
    run: async ({ auditor: { dialect } }) => ({ dialect, questions: savedQuestions(dialect) }),
  }),
] as const
