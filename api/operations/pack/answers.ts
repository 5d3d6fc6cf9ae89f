import { askQuestion } from '../ask/ask-question.ts'
import { questionsIn } from '../ask/questions.ts'
import { Problem } from '../problem.ts'
import type { Services } from '../services.ts'
import { csvOf } from '../sql/formats.ts'
import { MOST_ROWS } from '../sql/schemas.ts'
import type { Spool } from './spool.ts'

/**
 * Writes the answers of the questions of auditors that have rows, as CSV and as JSON with the SELECT. The column `event` of a row
 * names the event that is its evidence. `run`: answers only the questions about a run; null: all questions without required
 * inputs, about the whole log. If this host cannot answer in SQL, `answers/absent.txt` says why.
 */
export async function writeAnswers(s: Services, spool: Spool, run: string | null): Promise<void> {
  const folder = run === null ? 'answers' : `answers/${run}`
  for (const { name, sql, inputs } of questionsIn(s.auditor.dialect)) {
    const isAsked =
      inputs.every(({ required }) => !required) && (run === null || inputs.some((one) => one.name === 'run'))
    if (sql === null || !isAsked) continue
    const inputsOf = run === null ? {} : { run }
    try {
      const { title, columns, rows, more } = await askQuestion(s, name, inputsOf, MOST_ROWS)
      if (rows.length === 0) continue
      const answer = { question: name, title, inputs: inputsOf, sql, more, columns, rows }
      await spool.put(`${folder}/${name}.json`, `${JSON.stringify(answer, null, 1)}\n`)
      await spool.put(`${folder}/${name}.csv`, csvOf({ columns, rows }))
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'SQL_UNAVAILABLE')) throw error
      if (!spool.has('answers/absent.txt')) await spool.put('answers/absent.txt', `${error.message}\n`)
      return
    }
  }
}
