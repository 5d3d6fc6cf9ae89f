import { notFound, Problem } from '../problem.ts'
import type { Services } from '../services.ts'
import { askSql } from '../sql/ask.ts'
import { MOST_MS } from '../sql/schemas.ts'
import { filled, questionsIn, withoutInputs } from './questions.ts'
import type { QuestionAnswer, QuestionInputs } from './schemas.ts'

/** Answers a question by its name. Throws a Problem for an unknown question or wrong inputs. */
export async function askQuestion(
  s: Pick<Services, 'read' | 'auditor' | 'log'>,
  name: string,
  inputs: QuestionInputs,
  limit: number,
): Promise<QuestionAnswer> {
  const question = questionsIn(s.auditor.dialect).find((one) => one.name === name)
  if (question === undefined) throw notFound('question', name, 'GET /v1/ask lists them')
  if (question.sql === null)
    throw new Problem('INVALID_REQUEST', `"${name}" is answered by the command: ${question.command}`)
  for (const key of Object.keys(inputs))
    if (!question.inputs.some((one) => one.name === key))
      throw new Problem('INVALID_REQUEST', `${key}: "${name}" does not ask about it; GET /v1/ask lists its inputs`)
  const lacking = question.inputs.find((one) => one.required && inputs[one.name] === undefined)
  if (lacking !== undefined)
    throw new Problem('INVALID_REQUEST', `${lacking.name}: "${name}" needs it, such as ${lacking.example}`)
  const { sql: text, inputs: known } = question
  const sql = withoutInputs({ sql: filled({ sql: text, inputs: known }, inputs), inputs: known })
  const answer = await askSql(s, { sql, limit, timeoutMs: MOST_MS, key: [], erased: false })
  return { question: name, title: question.title, ...answer }
}
