import { z } from 'zod'
import { operation } from '../operation.ts'
import { Id } from '../schemas.ts'
import { askQuestion } from './ask-question.ts'
import { questionsIn } from './questions.ts'
import { AskQuery, AuditQuestionList, QuestionAnswer } from './schemas.ts'

/** Questions of auditors that need no knowledge of the tables. */
export const QUESTION_OPERATIONS = [
  operation({
    name: 'listAuditQuestions',
    http: 'GET /v1/ask',
    right: 'tables.ask',
    summary: 'Questions that auditors ask, each with its SQL',
    input: {},
    output: AuditQuestionList,
    answers: { 200: 'Questions' },
    run: async ({ auditor: { dialect } }) => ({ dialect, questions: questionsIn(dialect) }),
  }),
  operation({
    name: 'askAuditQuestion',
    http: 'GET /v1/ask/{name}',
    right: 'tables.ask',
    summary: 'The answer to a question of auditors: rows, each with the event that is its evidence',
    input: { params: z.object({ name: Id }), query: AskQuery },
    output: QuestionAnswer,
    answers: { 200: 'Rows. `event` names an event as `STREAM@REVISION`' },
    awaitsTables: true,
    run: (s, { params: { name }, query: { limit, ...inputs } }) => askQuestion(s, name, inputs, limit),
  }),
] as const
