import { useEffect, useRef, useState } from 'preact/hooks'
import { take } from '../../../http/answers.ts'
import { filled, withoutInputs } from '../../../operations/ask/questions.ts'
import type { AuditQuestion } from '../../../operations/ask/schemas.ts'
import { momentOf } from '../../../operations/moment.ts'
import type { SqlAnswer } from '../../../operations/sql/schemas.ts'
import { api, errorText } from '../../client/api.ts'
import { query, setQuery } from '../../page/router.ts'
import { countText, number, span } from '../../parts/format.ts'
import { Loaded, useLoaded } from '../../parts/loaded.tsx'
import { shown } from '../../parts/shown.ts'
import { ResultTable } from './result-table.tsx'

const ROWS = [100, 1_000, 10_000] as const
const SECONDS = [2, 10, 30] as const
const SPANS = [
  ['1d', 'the last day'],
  ['1w', 'the last week'],
  ['30d', 'the last 30 days'],
  ['all', 'all time'],
] as const

/** Saved SQL questions and the person's own. The URL contains the text, so a person can share a question. */
export function AskTab() {
  const found = useLoaded('questions', () => take(api.v1.ask.$get({})))
  /** How often the person has chosen a question or its time. */
  const [choices, setChoices] = useState(0)
  const choose = (question: AuditQuestion) => {
    setQuery({ question: question.name, sql: ownSql(question) })
    setChoices((n) => n + 1)
  }
  return (
    <Loaded of={found}>
      {({ questions }) => (
        <div class="panes two">
          <section class="pane">
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
            <div class="scroll" tabIndex={0}>
              <div class="row">
                <h2>Questions of auditors</h2>
                <label>
                  Of{' '}
                  <select
                    value={spanAsked()}
                    onChange={(event) => {
                      setQuery({ of: event.currentTarget.value })
                      const question = chosen(questions)
                      if (question?.inputs.some(({ name }) => name === 'from')) choose(question)
                    }}
                  >
                    {SPANS.map(([value, text]) => (
                      <option key={value} value={value}>
                        {text}
                      </option>
                    ))}
                  </select>
                </label>
              </div>
              <ul class="questions">
                {questions.map((question) => (
                  <Saved key={question.name} question={question} onChoose={() => choose(question)} />
                ))}
              </ul>
            </div>
          </section>
          <section class="pane">
            <Editor questions={questions} choices={choices} />
          </section>
        </div>
      )}
    </Loaded>
  )
}

/** The time that questions ask about, where their SQL has a beginning. */
const spanAsked = (): string => query.value.get('of') ?? '1w'

/** The beginning of that time, as the tables have it. Empty: there is none. */
const beginning = (): { readonly from?: string } => {
  const from = spanAsked() === 'all' ? null : momentOf(spanAsked(), Date.now())
  return from === null || from === undefined ? {} : { from }
}

/** The SQL of a question, with the time asked about and the inputs that the URL names. Empty: the question is a command. */
function ownSql({ sql, inputs }: AuditQuestion): string {
  const { sql: _, ...values } = Object.fromEntries(query.value)
  return sql === null ? '' : filled({ sql, inputs }, { ...beginning(), ...values })
}

function Saved({ question, onChoose }: { question: AuditQuestion; onChoose: () => void }) {
  const { name, title, sql, command } = question
  const isChosen = query.value.get('question') === name
  if (sql === null)
    return (
      <li>
        {title}: <code>keepup {command}</code>
      </li>
    )
  return (
    <li>
      <button type="button" class="plain" aria-current={isChosen || undefined} onClick={onChoose}>
        {title}
      </button>
    </li>
  )
}

/** The question that the URL names, even if the person has edited its text since. */
const chosen = (questions: readonly AuditQuestion[]) =>
  questions.find(({ name }) => name === query.value.get('question'))

/** Times as the tables have them. */
const inputValue = (name: string, text: string) =>
  name === 'from' || name === 'to' ? (momentOf(text, Date.now()) ?? text) : text

interface Asked {
  readonly text: string
  readonly ms: number
  readonly answer?: SqlAnswer
  readonly fault?: string
}

function Editor({ questions, choices }: { questions: readonly AuditQuestion[]; choices: number }) {
  const question = chosen(questions)
  const text = query.value.get('sql') ?? question?.sql ?? ''
  const [asked, setAsked] = useState<Asked | null>(null)
  const [works, setWorks] = useState(false)
  const [limit, setLimit] = useState<number>(1_000)
  const [seconds, setSeconds] = useState<number>(10)
  const inputs = question?.inputs ?? []
  const answer = useRef<HTMLDivElement>(null)
  const rounds = useRef(0)
  const open = inputs.filter(({ name }) => text.includes(`:${name}`))
  const lacksInput = (sql: string) => inputs.some(({ name, required }) => required && sql.includes(`:${name}`))
  const isLacking = lacksInput(text)
  const askAndShow = (sql: string) => void ask(sql).then(() => answer.current?.scrollIntoView({ block: 'nearest' }))
  // Ask a question as soon as a person chooses it, unless it lacks an input.
  useEffect(() => {
    if (choices > 0) askAndShow(text)
  }, [choices])
  // A link may name a question, whose own SQL is asked at once. A link may also contain any SQL, which runs in the name
  // of the person who opens it: that SQL waits for a click.
  useEffect(() => {
    if (question === undefined || query.value.get('sql') !== null) return
    const sql = ownSql(question)
    setQuery({ sql })
    askAndShow(sql)
  }, [question?.name])
  const ask = async (text: string) => {
    if (text.trim() === '' || lacksInput(text)) return
    const nth = ++rounds.current
    setWorks(true)
    const show = (found: Asked) => {
      // Only the last question counts.
      if (nth !== rounds.current) return
      setAsked(found)
      setWorks(false)
    }
    const begin = performance.now()
    const ms = () => performance.now() - begin
    try {
      const answer = await take(
        api.v1.sql.$post({ json: { sql: withoutInputs({ sql: text, inputs }), limit, timeoutMs: seconds * 1000 } }),
      )
      show({ text, ms: ms(), answer })
    } catch (error) {
      show({ text, ms: ms(), fault: errorText(error) })
    }
  }
  return (
    <>
      <form
        class="ask-sql"
        onSubmit={(event) => {
          event.preventDefault()
          void ask(text)
        }}
      >
        <textarea
          class="mono"
          aria-label="One SELECT over the tables and the log"
          placeholder="select status, count(*) from runs group by 1"
          spellcheck={false}
          value={text}
          onInput={(event) => setQuery({ sql: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
            event.preventDefault()
            void ask(text)
          }}
        />
        <div class="row">
          {open.map(({ name, label, example, required }) => (
            <label key={name}>
              {required ? label : `${label} (or all)`}{' '}
              <input
                class="mono"
                placeholder={example}
                onChange={(event) =>
                  setQuery({
                    sql: filled({ sql: text, inputs }, { [name]: inputValue(name, event.currentTarget.value.trim()) }),
                  })
                }
              />
            </label>
          ))}
        </div>
        <p class="row">
          <button type="submit" class="main" disabled={text.trim() === '' || isLacking}>
            {works ? 'asking …' : 'Ask (Ctrl Enter)'}
          </button>
          <Choice label="Rows at most" value={limit} of={ROWS} onChange={setLimit} />
          <Choice label="Seconds at most" value={seconds} of={SECONDS} onChange={setSeconds} />
        </p>
      </form>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <div class="scroll" tabIndex={0} ref={answer}>
        <Outcome asked={asked} />
      </div>
    </>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: number
  readonly of: readonly number[]
  readonly onChange: (value: number) => void
}

const Choice = ({ label, value, of, onChange }: ChoiceProps) => (
  <label>
    {label}{' '}
    <select value={value} onChange={(event) => onChange(Number((event.target as HTMLSelectElement).value))}>
      {of.map((one) => (
        <option key={one} value={one}>
          {number(one)}
        </option>
      ))}
    </select>
  </label>
)

function Outcome({ asked }: { asked: Asked | null }) {
  if (asked === null)
    return (
      <p class="quiet">
        Choose a question, or write one. Only SELECTs are run, with a limit of time and rows; nothing can be changed.
        The names of the tables: <code>keepup sql --help</code>.
      </p>
    )
  const { answer, fault, ms, text } = asked
  if (fault !== undefined || answer === undefined)
    return (
      <p class="fault" role="alert">
        {shown(fault ?? '')}
      </p>
    )
  return (
    <>
      <p role="status" class="quiet">
        {countText(answer.rows.length, 'row')} in {span(ms)}
        {answer.more && '; there are more: allow more rows, or ask for less'}
      </p>
      {answer.rows.length === 0 ? (
        <p>No row matches. Take a condition out of the question above, or choose another value, and ask again.</p>
      ) : (
        <ResultTable key={text} label="Answer" answer={answer} />
      )}
    </>
  )
}
