import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import type { EventView } from '../events/schemas.ts'
import { visible } from '../text/visible-text.ts'

// story.html: a run as a document without scripts. Every text of the log is escaped.

/** The most characters of one text. The event's body hash names the whole. */
const MAX_TEXT = 4_000

const escaped = (text: string): string =>
  visible(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** The page that shows packs allows this style by its hash. */
export const STORY_STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
h1{font-size:1.6rem}h2{margin-top:3rem;border-bottom:1px solid #8886}h3{margin-top:2rem;font-size:1rem}
section{margin:.8rem 0;padding-left:.8rem;border-left:3px solid #8884}.ask{border-color:#c80}.fail{border-color:#c33}
.gone{font-style:italic;opacity:.7}.meta{font-size:.8rem;opacity:.7}
pre{white-space:pre-wrap;margin:.2rem 0;font-size:.85rem}dt{font-weight:600}dd{margin:0 0 .4rem}`

export interface StoryHead {
  readonly title: string
  /** Names and values, in order. */
  readonly facts: readonly (readonly [name: string, value: string])[]
}

/** The beginning of the page. */
export const storyStart = ({ title, facts }: StoryHead): string =>
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${STORY_STYLE}</style></head><body>
<h1>${escaped(title)}</h1>
<p class="meta">A reading aid that no signature covers. The proof is in events.ndjson; README.txt says how to check it with
a verifier from elsewhere, because whoever forges a pack can also forge the verify.py in it.</p>
${storyFacts(facts)}`

/** Names and values as a list. */
export const storyFacts = (facts: StoryHead['facts']): string =>
  `<dl>${facts.map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`).join('')}</dl>\n`

export const storyHeading = (title: string): string => `<h2>${escaped(title)}</h2>\n`

export const STORY_END = '</body></html>\n'

/** The events of the story and their headings. */
const TITLES: Readonly<Record<string, string>> = {
  agent_started: 'Started',
  forked: 'Forked',
  user_input: 'A person wrote',
  model_call_end: 'The model answered',
  tool_call_start: 'Call',
  tool_call_end: 'Result',
  approval_requested: 'A person was asked',
  approval_supported: 'One of several people approved',
  approval_decided: 'The answer',
  completion: 'Completed',
  recovery: 'Recovery',
  cancelled: 'Cancelled',
  erased: 'Erased',
  tag_added: 'Tagged',
  tag_removed: 'Tag removed',
  note_added: 'Note',
  note_removed: 'Note removed',
}

const ASKS = /approval|question|ask/
const FAILURES = /error|fail|reject|refus|lost|unknown/

/** An event of the story. Empty: it is bookkeeping. `withheld`: the pack has no bodies. */
export function storyEvent(event: EventView, { header }: RecordedEvent, withheld: boolean): string {
  const { type, turn, revision, timestamp, actor } = event
  if (type === 'turn_start') return `<h3>Turn ${turn}</h3>\n`
  const title = TITLES[type] ?? (ASKS.test(type) || FAILURES.test(type) ? type.replaceAll('_', ' ') : undefined)
  if (title === undefined) return ''
  const kind = ASKS.test(type) ? ' class="ask"' : FAILURES.test(type) ? ' class="fail"' : ''
  const place = `@${revision} ${timestamp} ${actor.kind} ${actor.id}`
  const meta = `<p class="meta">${escaped(place)} · body ${escaped(header.body.hash)}</p>`
  return `<section${kind}><strong>${escaped(title)}</strong>${content(event, withheld)}${meta}</section>\n`
}

function content({ payload, altered }: EventView, withheld: boolean): string {
  if (withheld) return '<p class="gone">withheld from this pack</p>'
  if (altered) return '<p class="gone">altered: the stored body is not the one that was sealed</p>'
  if (payload === null) return '<p class="gone">erased</p>'
  return textsOf(payload as Readonly<Record<string, unknown>>)
    .map(
      ([name, text]) => `${name === '' ? '' : `<p class="meta">${escaped(name)}</p>`}<pre>${escaped(cut(text))}</pre>`,
    )
    .join('')
}

const cut = (text: string): string =>
  text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}\n… ${text.length - MAX_TEXT} more characters`

/** The members of a payload as texts: the texts of a model's answer first, other members as JSON. */
function textsOf(payload: Readonly<Record<string, unknown>>): (readonly [name: string, text: string])[] {
  const { content, ...rest } = payload
  const blocks = Array.isArray(content) ? (content as readonly Readonly<Record<string, unknown>>[]) : null
  const said = blocks?.flatMap((block) => (typeof block?.text === 'string' ? [['', block.text] as const] : [])) ?? []
  const other = blocks === null ? payload : rest
  return [
    ...said,
    ...Object.entries(other)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value, null, 1)] as const),
  ]
}
