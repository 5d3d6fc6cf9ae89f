import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const OUTLINES = 'test/api/web-page.test.ts'
const POINTS = 'test/api/agent-events.test.ts'
const MOMENTS = 'test/api/tree-at.test.ts'
const FEED = 'test/api/event-feed.test.ts'
const NUMBERS = 'test/projections/queries.test.ts'
const LISTS = 'test/api/web-lists.test.ts'
const HUB = 'test/api/web-feed.test.ts'

const within = (file: string, search: string, replace: string) => ({ file, search, replace })

/** Rules for the run page and its event streams. */
export const PAGE: readonly Rule[] = [
  {
    rule: 'who wrote this',
    says: 'a value leads to the last event up to the position that wrote it',
    test: OUTLINES,
    name: 'tells the last event up to a place',
    fault: within('api/web/run/writers.ts', 'lastOf(WRITERS[what], place)', 'lastOf(WRITERS[what], place + 1)'),
  },
  {
    rule: 'who wrote this',
    says: 'a call leads to no event after the position',
    test: OUTLINES,
    name: 'no later one',
    fault: within('api/web/run/writers.ts', 'let at = Math.min(place, last)', 'let at = last'),
  },
  {
    rule: 'who wrote this',
    says: 'a variable of a fork leads into its source',
    test: POINTS,
    name: 'of a fork also in its source',
    fault: fault(
      'agent/runtime/history/brief.ts',
      'agentId: place.agentId, revision: event',
      'agentId, revision: event',
    ),
  },
  {
    rule: 'the tree at a position',
    says: 'an agent that has gone on since is shown as it stood then',
    test: MOMENTS,
    fault: within('api/operations/history/tree-at.ts', ' && heads.get(place.agentId) === place.revision', ''),
  },
  {
    rule: 'the tree at a position',
    says: 'an event of another agent that came later in the log does not count',
    test: MOMENTS,
    fault: within('projections/engine/queries/places-at.ts', 'if (at > position) return place', ''),
  },
  {
    rule: 'the tree at a position',
    says: 'an agent whose end is told has its status and its code',
    test: MOMENTS,
    fault: within(
      'api/operations/history/tree-at.ts',
      "machine.status === 'ERROR' ? machine.code",
      "place.turn < 0 ? ''",
    ),
  },
  {
    rule: 'numbers',
    says: 'an attempt of a model that was lost has failed',
    test: NUMBERS,
    fault: within(
      'projections/agent/queries/numbers/calls.ts',
      "c.status in ('failed', 'lost')",
      "c.status in ('failed')",
    ),
  },
  {
    rule: 'numbers',
    says: 'a run counts on the day on which it began',
    test: NUMBERS,
    fault: within(
      'projections/agent/queries/numbers/runs.ts',
      'substr(created_at, 1, 10) as day',
      'substr(created_at, 1, 7) as day',
    ),
  },
  {
    rule: 'numbers',
    says: 'a call that did not fail is none of the failures',
    test: NUMBERS,
    fault: within('projections/agent/queries/numbers/calls.ts', ' and c.code is not null', ''),
  },
  {
    rule: 'numbers',
    says: 'tokens that a cache has read are input of their day',
    test: OUTLINES,
    name: 'days without anything',
    fault: within('api/web/numbers/days.ts', ' + (bill?.cacheReadTokens ?? 0)', ''),
  },
  {
    rule: 'the stream of events',
    says: 'a client is given what comes after its cursor, and no event twice',
    test: FEED,
    fault: within('api/operations/events/feed-page.ts', 'event.position > position)', 'event.position >= position)'),
  },
  {
    rule: 'the stream of events',
    says: 'all that ask for the same are given the same bytes, made once',
    test: FEED,
    name: 'once for a hundred clients',
    fault: within('api/operations/events/feed-page.ts', '    this.#chunks.set(asked.key, chunk)\n', ''),
  },
  {
    rule: 'the stream of events',
    says: 'what was erased is not given out from memory',
    test: FEED,
    name: 'after its erasure',
    fault: within('api/operations/events/shared-tail.ts', '(erased || bytes', '(bytes'),
  },
  {
    rule: 'the stream of events',
    says: 'a client that is too slow reads the log again, and is kept no memory for',
    test: FEED,
    name: 'takes nothing',
    fault: within('api/operations/events/shared-tail.ts', ' || this.#pages.length > KEPT_PAGES', ''),
  },
  {
    rule: 'what people are asked',
    says: 'a question keeps its place on the page while others are decided',
    test: LISTS,
    name: 'keeps its place when another one is decided',
    fault: within('api/web/actions/asked.ts', "(ask.for === 'approval' ? [ask] : [])", '[]'),
  },
  {
    rule: 'what people are asked',
    says: 'nothing is asked on behalf of an agent that nothing reaches',
    test: NUMBERS,
    fault: within('projections/agent/queries/reached.ts', 'c.unreached = 1', 'c.unreached = 2'),
  },
  {
    rule: 'what people are asked',
    says: 'the page says that a restore of files has not ended',
    test: 'test/api/web-reasons.test.ts',
    name: 'whose files are half put back',
    fault: within('api/web/run/reasons.ts', 'restoring !== null && {', 'restoring === undefined && {'),
  },
  {
    rule: 'the page hears',
    says: 'changes without a rest do not put a look off',
    test: LISTS,
    name: 'is done while changes come without a rest',
    fault: within(
      'api/web/parts/throttle.ts',
      'if (this.#over || this.#timer !== null) return',
      'clearTimeout(this.#timer!)',
    ),
  },
  {
    rule: 'the page hears',
    says: 'a connection that falls silent is broken off',
    test: HUB,
    name: 'that falls silent is broken off',
    fault: within('api/web/client/heartbeat-watch.ts', '      this.#over.abort()\n', ''),
  },
  {
    rule: 'the page hears',
    says: 'a tab that has slept looks up what it was not told',
    test: HUB,
    name: 'that have slept are told',
    fault: within('api/web/client/feed-hub.ts', 'else if (isForgotten && ', 'else if (!isForgotten && '),
  },
  {
    rule: 'pages of events',
    says: 'a page is one piece, however many events it has',
    test: POINTS,
    name: 'in one piece',
    fault: within(
      'api/operations/events/batched-stream.ts',
      'bytes > 0 && bytes + part.length > GATHERED_BYTES',
      'bytes > 0',
    ),
  },
  {
    rule: 'pages of events',
    says: 'large pieces are not gathered in memory',
    test: 'test/api/gathered.test.ts',
    fault: within(
      'api/operations/events/batched-stream.ts',
      'bytes > 0 && bytes + part.length > GATHERED_BYTES',
      'bytes < 0',
    ),
  },
]
