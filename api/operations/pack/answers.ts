import { askQuestion } from '../ask/ask-question.ts'
import { questionsIn } from '../ask/questions.ts'
import type { QuestionAnswer } from '../ask/schemas.ts'
import { Problem } from '../problem.ts'
import type { Services } from '../services.ts'
import { csvOf } from '../sql/formats.ts'
import { MOST_ROWS } from '../sql/schemas.ts'
import type { Spool } from './spool.ts'

/** How often a question is asked while the queue of questions is full, and the time between, in ms. */
const MOST_TRIES = 10
const PAUSE_MS = 500

/** The events of a pack. */
export interface PackedEvents {
  /** True: the pack has the events of a time only. */
  readonly isPart: boolean
  /** Whether the pack has this event, such as `agent-a@3`. */
  has(event: string): boolean
}

/**
 * Writes the answers of the questions of auditors that have rows, as JSON with the SELECT, and as CSV if no row is missing. The
 * column `event` of a row names the event that is its evidence; a row without evidence in the pack is left out. `run`: answers
 * only the questions about a run; null: all questions without required inputs, about the whole log. The pack does not depend
 * on answers: `absent.txt` names each question without one and the reason.
 */
export async function writeAnswers(
  s: Pick<Services, 'read' | 'auditor' | 'log' | 'clock'>,
  spool: Pick<Spool, 'put'>,
  packed: PackedEvents,
  run: string | null,
): Promise<void> {
  const folder = run === null ? 'answers' : `answers/${run}`
  const absent: string[] = []
  for (const { name, sql, inputs } of questionsIn(s.auditor.dialect)) {
    const isAsked =
      inputs.every(({ required }) => !required) && (run === null || inputs.some((one) => one.name === 'run'))
    if (sql === null || !isAsked) continue
    const inputsOf = run === null ? {} : { run }
    try {
      const answer = packedRows(await patiently(s, () => askQuestion(s, name, inputsOf, MOST_ROWS)), packed)
      if (typeof answer === 'string') absent.push(`${name}: ${answer}\n`)
      if (typeof answer === 'string' || answer.rows.length === 0) continue
      const { title, more, columns, rows } = answer
      const shown = { question: name, title, inputs: inputsOf, sql, more, columns, rows }
      await spool.put(`${folder}/${name}.json`, `${JSON.stringify(shown, null, 1)}\n`)
      if (!more) await spool.put(`${folder}/${name}.csv`, csvOf({ columns, rows }))
    } catch (error) {
      if (!(error instanceof Problem && error.code.startsWith('SQL_'))) throw error
      absent.push(`${name}: ${error.message}\n`)
    }
  }
  if (absent.length > 0) await spool.put(`${folder}/absent.txt`, absent.join(''))
}

/** Asks again while the queue of questions is full. */
async function patiently<T>({ clock }: Pick<Services, 'clock'>, ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'SQL_BUSY') || tries === MOST_TRIES) throw error
      await clock.sleep(PAUSE_MS)
    }
  }
}

/** The rows with evidence in the pack. A text: why the answer does not follow from the events of the pack. */
function packedRows(
  answer: QuestionAnswer,
  packed: PackedEvents,
): Pick<QuestionAnswer, 'title' | 'columns' | 'rows' | 'more'> | string {
  const place = answer.columns.indexOf('event')
  if (place === -1 && packed.isPart) return 'its sums count events outside the time of this pack'
  const rows = answer.rows.filter((row) => {
    const event = place === -1 ? null : (row[place] ?? null)
    return event === null ? !packed.isPart : packed.has(String(event))
  })
  return { ...answer, rows }
}
