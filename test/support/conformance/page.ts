import { drop, replace, reworded } from '../mutations/edits.ts'
import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const OUTLINES = 'test/api/web/page.test.ts'
const POINTS = 'test/api/agents/agent-events.test.ts'
const MOMENTS = 'test/api/operations/tree-at.test.ts'
const FEED = 'test/api/operations/event-feed.test.ts'
const NUMBERS = 'test/projections/queries.test.ts'
const LISTS = 'test/api/web/lists.test.ts'
const HUB = 'test/api/web/feed.test.ts'

/** Rules for the run page and its event streams. */
export const PAGE: readonly Rule[] = [
  {
    rule: 'who wrote this',
    says: 'a value leads to the last event up to the position that wrote it',
    test: OUTLINES,
    name: 'tells the last event up to a place',
    fault: fault('api/web/run/writers.ts', 'writerOf', replace('entry', 'place', '$ + 1')),
  },
  {
    rule: 'who wrote this',
    says: 'a call leads to no event after the position',
    test: OUTLINES,
    name: 'no later one',
    fault: fault('api/web/run/writers.ts', 'writerOfCall', replace('call', 'min', '$2')),
  },
  {
    rule: 'who wrote this',
    says: 'a variable of a fork leads into its source',
    test: POINTS,
    name: 'of a fork also in its source',
    fault: fault('domain/agent/runtime/history/brief.ts', 'briefAt', replace('value', 'agentId', 'agentId')),
  },
  {
    rule: 'the tree at a position',
    says: 'an agent that has gone on since is shown as it stood then',
    test: MOMENTS,
    fault: fault('api/operations/history/tree-at.ts', 'runTreeAt', drop('operand', 'heads')),
  },
  {
    rule: 'the tree at a position',
    says: 'an event of another agent that came later in the log does not count',
    test: MOMENTS,
    fault: fault('projections/engine/queries/places-at.ts', 'placeOf', replace('condition', 'at', 'false')),
  },
  {
    rule: 'the tree at a position',
    says: 'an agent whose end is told has its status and its code',
    test: MOMENTS,
    fault: fault('api/operations/history/tree-at.ts', 'asFolded', replace('condition', 'ERROR', 'false')),
  },
  {
    rule: 'numbers',
    says: 'an attempt of a model that was lost has failed',
    test: NUMBERS,
    fault: fault('projections/agent/queries/numbers/calls.ts', 'MODEL_CALLS', reworded(", 'lost'", '')),
  },
  {
    rule: 'numbers',
    says: 'a run counts on the day on which it began',
    test: NUMBERS,
    fault: fault('projections/agent/queries/numbers/runs.ts', 'runDays', reworded('10) as', '7) as')),
  },
  {
    rule: 'numbers',
    says: 'a call that did not fail is none of the failures',
    test: NUMBERS,
    fault: fault('projections/agent/queries/numbers/calls.ts', 'failures', reworded(' and c.code is not null', '')),
  },
  {
    rule: 'numbers',
    says: 'tokens that a cache has read are input of their day',
    test: OUTLINES,
    name: 'days without anything',
    fault: fault('api/web/numbers/days.ts', 'daysOf', replace('operand', 'cacheReadTokens', '0')),
  },
  {
    rule: 'the stream of events',
    says: 'a client is given what comes after its cursor, and no event twice',
    test: FEED,
    fault: fault('api/operations/events/feed-page.ts', 'after', replace('operator', '>', '>=')),
  },
  {
    rule: 'the stream of events',
    says: 'all that ask for the same are given the same bytes, made once',
    test: FEED,
    name: 'once for a hundred clients',
    fault: fault('api/operations/events/feed-page.ts', '#chunk', drop('statement', 'set')),
  },
  {
    rule: 'the stream of events',
    says: 'what was erased is not given out from memory',
    test: FEED,
    name: 'after its erasure',
    fault: fault('api/operations/events/shared-tail.ts', '#publish', drop('operand', 'erased')),
  },
  {
    rule: 'the stream of events',
    says: 'a client that is too slow reads the log again, and is kept no memory for',
    test: FEED,
    name: 'takes nothing',
    fault: fault('api/operations/events/shared-tail.ts', '#publish', drop('operand', 'KEPT_PAGES')),
  },
  {
    rule: 'what people are asked',
    says: 'a question keeps its place on the page while others are decided',
    test: LISTS,
    name: 'keeps its place when another one is decided',
    fault: fault('api/web/actions/open-questions.ts', 'inPlace', replace('operand', 'approval', '[]')),
  },
  {
    rule: 'what people are asked',
    says: 'nothing is asked on behalf of an agent that nothing reaches',
    test: NUMBERS,
    fault: fault(
      'projections/agent/queries/still-matters.ts',
      'reached',
      reworded('c.unreached = 1', 'c.unreached = 2'),
    ),
  },
  {
    rule: 'what people are asked',
    says: 'the page says that a restore of files has not ended',
    test: 'test/api/web/reasons.test.ts',
    name: 'whose files are half put back',
    fault: fault('api/web/run/reasons.ts', 'reasonsOf', replace('operand', 'restoring null', 'false')),
  },
  {
    rule: 'the page hears',
    says: 'changes without a rest do not put a look off',
    test: LISTS,
    name: 'is done while changes come without a rest',
    fault: fault('api/web/parts/throttle.ts', 'request', replace('statement', '#over', 'clearTimeout(this.#timer)')),
  },
  {
    rule: 'the page hears',
    says: 'a connection that falls silent is broken off',
    test: HUB,
    name: 'that falls silent is broken off',
    fault: fault('api/web/client/heartbeat-watch.ts', 'beat', drop('statement', 'abort')),
  },
  {
    rule: 'the page hears',
    says: 'a tab that has slept looks up what it was not told',
    test: HUB,
    name: 'that have slept are told',
    fault: fault('api/web/client/feed-hub.ts', 'join', replace('operand', 'isForgotten', '!$')),
  },
  {
    rule: 'pages of events',
    says: 'a page is one piece, however many events it has',
    test: POINTS,
    name: 'in one piece',
    fault: fault('api/operations/events/batched-stream.ts', 'gathered', drop('operand', 'GATHERED_BYTES')),
  },
  {
    rule: 'pages of events',
    says: 'large pieces are not gathered in memory',
    test: 'test/api/http/gathered.test.ts',
    fault: fault(
      'api/operations/events/batched-stream.ts',
      'gathered',
      replace('condition', 'GATHERED_BYTES', 'false'),
    ),
  },
]
