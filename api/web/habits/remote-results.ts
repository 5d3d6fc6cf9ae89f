import type { Right } from '../../../domain/access/rights.ts'
import { take } from '../../http/answers.ts'
import { api } from '../client/api.ts'
import { go } from '../page/router.ts'
import { linkToMatch } from '../search/link.ts'
import { type Find, findKey } from './search-results.ts'

/** The most entries of a kind. */
const SOME = '5'
/** The shortest text to search for. */
const SHORTEST = 2
/** The server cannot search documents and people by name, so the palette looks through one page of each. */
const PAGE = '500'

type Source = (text: string, init: RequestInit) => Promise<readonly Find[]>

/** The sources of one opening of the palette. The lists of documents and principals are loaded once. */
const sourcesOf = (): readonly (readonly [right: Right, source: Source])[] => [
  ['bodies.read', runsLike],
  ['bodies.read', eventsLike],
  ['bodies.read', filesLike],
  ['documents.read', documentsLike(once(() => take(api.v1.documents.$get({ query: { limit: PAGE } }))))],
  ['runs.read', personNamed],
  ['access.read', peopleLike(once(() => take(api.v1.access.principals.$get({ query: { limit: PAGE } }))))],
]

/** Loads at the first call; again after a failure. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | null = null
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = null
      throw error
    })
    return loaded
  }
}

/**
 * Returns a search for runs, events, files, documents and people that match a text. It asks only for what this person may
 * read, because the log records each refusal. A source that fails finds nothing.
 */
export function remoteSearch(rights: ReadonlySet<Right>) {
  const sources = sourcesOf().filter(([right]) => rights.has(right))
  return async (text: string, signal: AbortSignal): Promise<readonly Find[]> => {
    const asked = text.trim()
    if (asked.length < SHORTEST) return []
    const found = (await Promise.all(sources.map(([_, source]) => source(asked, { signal }).catch(() => [])))).flat()
    // A person with a run may also be a principal.
    return [...new Map(found.map((one) => [findKey(one), one])).values()]
  }
}

/** Runs whose text contains a text, and the run with this id. */
async function runsLike(text: string, init: RequestInit): Promise<readonly Find[]> {
  const { runs } = await take(api.v1.runs.$get({ query: { text, limit: SOME } }, { init }))
  const found = runs.map(({ runId, task, status }) => ({ runId, task, status }))
  if (/^[0-9a-z]{4,}$/.test(text) && !found.some(({ runId }) => runId === text)) {
    const answer = await api.v1.runs[':id'].$get({ param: { id: text } }, { init })
    if (answer.ok) {
      const { run } = (await answer.json()) as { run: { runId: string; task: string | null; status: string } }
      found.unshift(run as (typeof found)[number])
    }
  }
  return found.map(({ runId, task, status }) => ({
    kind: 'Runs',
    title: task ?? runId,
    more: `${status} ${runId}`,
    act: () => go(`/runs/${runId}`),
  }))
}

/** Events with a text that contains a text. */
async function eventsLike(text: string, init: RequestInit): Promise<readonly Find[]> {
  const { matches } = await take(api.v1.search.$get({ query: { text, limit: SOME } }, { init }))
  return matches.slice(0, Number(SOME)).map((found) => ({
    kind: 'Events',
    title: `${found.before.slice(-30)}${found.match}${found.after}`.replaceAll(/\s+/g, ' ').trim(),
    more: `${found.kind} ${found.stream}@${found.revision}`,
    act: () => go(linkToMatch(found)),
  }))
}

async function filesLike(text: string, init: RequestInit): Promise<readonly Find[]> {
  const { files } = await take(api.v1.search.files.$get({ query: { text, limit: SOME } }, { init }))
  return files.map(({ path, runs }) => ({
    kind: 'Files',
    title: path,
    more: runs === 1 ? 'in 1 run' : `in ${runs} runs`,
    act: () => go(`/?${new URLSearchParams({ file: path })}`),
  }))
}

interface DocumentNames {
  readonly documents: readonly { readonly documentId: string; readonly title: string }[]
}

const documentsLike =
  (load: () => Promise<DocumentNames>) =>
  async (text: string): Promise<readonly Find[]> =>
    (await load()).documents
      .filter(({ title }) => contains(title, text))
      .slice(0, Number(SOME))
      .map(({ documentId, title }) => ({
        kind: 'Documents',
        title,
        more: documentId,
        act: () => go(`/documents/${documentId}`),
      }))

/** The person of this name, if a run has one. */
async function personNamed(text: string, init: RequestInit): Promise<readonly Find[]> {
  const { runs } = await take(api.v1.runs.$get({ query: { person: text, limit: '1' } }, { init }))
  return runs.length === 0 ? [] : [personFind(text)]
}

interface PrincipalNames {
  readonly principals: readonly { readonly id: string; readonly name: string }[]
}

const peopleLike =
  (load: () => Promise<PrincipalNames>) =>
  async (text: string): Promise<readonly Find[]> =>
    (await load()).principals
      .filter(({ id, name }) => contains(`${id} ${name}`, text))
      .slice(0, Number(SOME))
      .map(({ id }) => personFind(id))

const personFind = (id: string): Find => ({
  kind: 'People',
  title: id,
  more: 'runs of this person',
  act: () => go(`/?${new URLSearchParams({ person: id })}`),
})

const contains = (text: string, part: string): boolean => text.toLowerCase().includes(part.toLowerCase())
