import { basename, dirname } from 'node:path'
import type { HostedRun } from '../../../domain/external/runtime/hosted-run.ts'
import { externalStream, hex, hostedRunId, hostedScope } from '../../../domain/log/ids.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import { externalAgents } from '../../operations/external/agents.ts'
import { actorOf } from '../../operations/runs/request-options.ts'
import type { HostRules } from '../host-run.ts'
import type { KeepUp } from '../keepup.ts'
import type { HookInputOf, SessionKey, SessionStore, SessionStoreEntry } from './types.ts'

const KIND = 'claude_agent_sdk'
const SESSION = 'backend.claude_agent_sdk.session'
const PROJECT = 'backend.claude_agent_sdk.project'

type Place = Omit<SessionKey, 'subpath'>

export interface SessionsOptions {
  readonly keepup: KeepUp
  readonly rules: HostRules
  readonly by: string | undefined
}

/** The sessions of the Claude Agent SDK in a data folder: one run per session of a project. */
export class Sessions implements SessionStore {
  readonly #options: SessionsOptions
  readonly #runs = new Map<string, Promise<HostedRun>>()
  /** By session: the project under which the SDK has named it. */
  readonly #projects = new Map<string, string>()

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  /** The run of a session, opened. */
  run({ projectKey, sessionId }: Place): Promise<HostedRun> {
    const { keepup, rules, by } = this.#options
    const id = idOf({ projectKey, sessionId })
    const known = this.#runs.get(id)
    if (known !== undefined) return known
    const extensions = { [PROJECT]: projectKey, [SESSION]: sessionId }
    const prompt = `session ${sessionId} of ${projectKey}`
    const run = (async () => {
      const opened = await keepup.host(
        { kind: KIND, scope: projectKey, name: sessionId, prompt, extensions, rules },
        by,
      )
      // An erasure removes the request. A session that continues is listed by this id.
      await opened.session(sessionId)
      return opened
    })()
    this.#runs.set(id, run)
    run.catch(() => this.#runs.delete(id))
    return run
  }

  /** The run of the session that a hook speaks of. The SDK names a project after the folder of its transcripts. */
  runOfHook({ session_id: sessionId, transcript_path: path }: HookInputOf): Promise<HostedRun> {
    const projectKey = this.#projects.get(sessionId) ?? (basename(dirname(path)) || 'project')
    return this.run({ projectKey, sessionId })
  }

  /** The open run of a session; null: no hook and no entry of it came here. */
  async runOfSession(sessionId: string): Promise<HostedRun | null> {
    const projectKey = this.#projects.get(sessionId)
    if (projectKey !== undefined) return this.run({ projectKey, sessionId })
    const runs = await Promise.allSettled(this.#runs.values())
    const found = runs.find((run) => run.status === 'fulfilled' && run.value.sessionId === sessionId)
    return found?.status === 'fulfilled' ? found.value : null
  }

  append = async ({ projectKey, sessionId, subpath }: SessionKey, entries: SessionStoreEntry[]): Promise<void> => {
    this.#projects.set(sessionId, projectKey)
    if (entries.length === 0) return
    const run = await this.run({ projectKey, sessionId })
    await run.mirror(subpath, JSON.parse(JSON.stringify(entries)) as JsonObject[])
  }

  load = async (key: SessionKey): Promise<SessionStoreEntry[] | null> => {
    const { log } = await externalAgents(this.#options.keepup.services).log()
    const id = idOf(key)
    const { subpath } = key
    if ((await log.state(id))?.hosted?.transcripts[subpath ?? ''] === undefined) return null
    const found = new Map<unknown, SessionStoreEntry>()
    for await (const page of log.history(id))
      for (const { event, recorded } of page) {
        if (event.type === 'transcript_deleted' && (event.body.subpath ?? subpath) === subpath) found.clear()
        if (event.type !== 'transcript_mirrored' || recorded.erased || event.body.subpath !== subpath) continue
        // Two processes may have recorded an entry at the same time.
        for (const entry of event.body.entries as unknown as SessionStoreEntry[])
          if (entry.uuid === undefined || !found.has(entry.uuid)) found.set(entry.uuid ?? Symbol('no uuid'), entry)
      }
    return [...found.values()]
  }

  listSessions = async (projectKey: string): Promise<Array<{ sessionId: string; mtime: number }>> => {
    const { keepup } = this.#options
    const { log } = await externalAgents(keepup.services).log()
    await keepup.services.read.caughtUp()
    const sessions: { sessionId: string; mtime: number }[] = []
    for await (const { runId } of keepup.runs({ prefix: hostedScope(KIND, projectKey) })) {
      const state = await log.state(runId)
      const mtime = state?.hosted?.transcripts['']
      if (mtime !== undefined && state?.sessionId != null) sessions.push({ sessionId: state.sessionId, mtime })
    }
    return sessions
  }

  listSubkeys = async (place: Place): Promise<string[]> => {
    const { log } = await externalAgents(this.#options.keepup.services).log()
    const transcripts = (await log.state(idOf(place)))?.hosted?.transcripts ?? {}
    return Object.keys(transcripts).filter((subpath) => subpath !== '')
  }

  delete = async (key: SessionKey): Promise<void> => {
    const { services } = this.#options.keepup
    const { log } = await externalAgents(services).log()
    const id = idOf(key)
    const { subpath } = key
    const transcripts = (await log.state(id))?.hosted?.transcripts ?? {}
    if (subpath === undefined ? Object.keys(transcripts).length === 0 : transcripts[subpath] === undefined) return
    await (await this.run(key)).deleted(subpath)
    const revisions = new Set<number>()
    for await (const page of log.history(id))
      for (const { event, recorded } of page) {
        const isOf = event.type === 'transcript_mirrored' && event.body.subpath === subpath
        if (!recorded.erased && (subpath === undefined || isOf)) revisions.add(event.revision)
      }
    const choice = subpath === undefined ? { all: true } : { all: true, only: revisions }
    const why = { reason: `the transcript of session ${key.sessionId} was deleted` }
    const by = actorOf('user', this.#options.by, {})
    const asker = { by, commandId: `request:${hex(services.random.bytes(16))}` }
    await services.streams.erase(externalStream(id), choice as { all: true }, why, asker)
    if (subpath === undefined) await this.#detach(id)
  }

  /** Releases the runs of all sessions. */
  async close(): Promise<void> {
    await Promise.all([...this.#runs.keys()].map((id) => this.#detach(id)))
  }

  /** Releases the run of a session, whose memory can contain erased text. */
  async #detach(id: string): Promise<void> {
    const run = this.#runs.get(id)
    this.#runs.delete(id)
    await (await run)?.detach()
  }
}

const idOf = ({ projectKey, sessionId }: Place): string => hostedRunId(KIND, projectKey, sessionId)
