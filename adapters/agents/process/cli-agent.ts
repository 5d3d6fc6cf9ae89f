import type { RightsLevel } from '../../../domain/external/delegation.ts'
import type { Advertised, AgentRunRequest } from '../../../domain/external/request.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { Mapped } from '../../../domain/ports/external.ts'
import type { OwnPlaces } from './confine.ts'

/**
 * An agent's command line that prints one JSON object a line. A new backend is one such object; the kit (kit.ts) checks it.
 * It advertises only the capabilities that the program really has.
 */
export interface CliAgent extends Advertised {
  /** The program's name on the PATH. */
  readonly program: string
  /** Arguments that print its version. */
  readonly versionArgs: readonly string[]
  /** Names of variables of ours that it is given: its key and base URL. */
  readonly passes: readonly string[]
  /** Where it finds its login: variables, and files below the home folder. */
  readonly login?: { readonly variables: readonly string[]; readonly files: readonly string[] }
  /** Its own state and login, which it can change where it is confined. */
  readonly keeps?: OwnPlaces
  readonly levels?: readonly RightsLevel[]
  /** The extension that says what it may do, and its value for edits. Without one it asks, and nobody answers. */
  readonly rights?: { readonly extension: string; readonly edits: string }
  readonly reportsCost?: boolean
  readonly budgetExtension?: `backend.${string}`
  /** It can be led to an MCP server over HTTP, as `plan` does. */
  readonly takesTools?: boolean
  /** How it is started for a request that was checked. `reach`: keepup's own tools, which it may call. */
  plan(request: AgentRunRequest, reach?: ReachedTools): CliPlan
  /** A fresh mapping for one run. */
  mapping(): LineMapping
  /** The meaning of its own exit codes. */
  readonly exitCodes?: Readonly<Record<number, string>>
}

/** An MCP server with keepup's own tools, for as long as a run lasts. */
export interface ReachedTools {
  /** Its name, and the names of its tools. */
  readonly server: string
  readonly tools: readonly string[]
  readonly url: string
  /** Every request needs it, as `Authorization: Bearer <token>`. */
  readonly token: string
  /** Our environment, of which the program is given a part. */
  readonly ours: NodeJS.ProcessEnv
  /** Where its files are, outside of every workspace. */
  readonly folder: string
  /** Makes a file there that only this user can read: arguments are seen by all. Gives its path. */
  file(name: string, content: string): string
}

export interface CliPlan {
  readonly args: readonly string[]
  /** Written to stdin, which is then ended. Null: `/dev/null`. A prompt goes here: arguments are seen by all users. */
  readonly stdin: string | null
  readonly env?: Readonly<Record<string, string>>
  /** Files that it must see where it is confined. */
  readonly readable?: readonly string[]
}

/** Maps the lines of one run. It may throw for a line that is not as it expects: that line becomes an Unknown event. */
export interface LineMapping {
  line(line: JsonObject): Mapped
  /** Called once, after the last line. */
  end(): CliEnd
}

/** The outcome of a run's lines. `done`: the terminal line came and says success; exit code 0 alone is none. */
export interface CliEnd {
  readonly done: boolean
  readonly finalText: string | null
  readonly mapped?: Mapped
}
