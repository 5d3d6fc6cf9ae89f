import type { RightsLevel } from '../../../domain/external/delegation.ts'
import type { Advertised, AgentRunRequest } from '../../../domain/external/request.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { Mapped } from '../../../domain/ports/external.ts'
import type { OwnPlaces } from './confine.ts'

/**
 * Describes an agent program that prints one JSON object per line. To add a backend, add one object of this type. The
 * kit (kit.ts) checks it. It must advertise only capabilities that the program really has.
 */
export interface CliAgent extends Advertised {
  /** The program's name on the PATH. */
  readonly program: string
  /** Arguments that print the program's version. */
  readonly versionArgs: readonly string[]
  /** Names of the environment variables that keepup passes to the program: its key and base URL. */
  readonly passes: readonly string[]
  /** The places of the program's login: variables, and files below the home folder. */
  readonly login?: { readonly variables: readonly string[]; readonly files: readonly string[] }
  /** Paths of the program's own state and login. The program can change them when it is confined. */
  readonly keeps?: OwnPlaces
  readonly levels?: readonly RightsLevel[]
  /**
   * `extension` sets the program's rights. `edits` is the value that allows edits. Without the extension the program
   * asks for permission, and nobody can answer.
   */
  readonly rights?: { readonly extension: string; readonly edits: string }
  readonly reportsCost?: boolean
  readonly budgetExtension?: `backend.${string}`
  /** The program can call an MCP server over HTTP, which `plan` configures. */
  readonly takesTools?: boolean
  /** The command line of a checked request. `reach`: keepup's own tools, which the program may call. */
  plan(request: AgentRunRequest, reach?: ReachedTools): CliPlan
  /** A new mapping for one run. */
  mapping(): LineMapping
  /** The meanings of the program's own exit codes. */
  readonly exitCodes?: Readonly<Record<number, string>>
}

/** An MCP server with keepup's own tools. The server ends with the run. */
export interface ReachedTools {
  /** The name of the server, and the names of its tools. */
  readonly server: string
  readonly tools: readonly string[]
  readonly url: string
  /** Required in every request, as `Authorization: Bearer <token>`. */
  readonly token: string
  /** keepup's environment. The program gets only a part of it. */
  readonly ours: NodeJS.ProcessEnv
  /** `file` makes its files in this folder, which is outside every workspace. */
  readonly folder: string
  /** Makes a file that only this user can read, because every user can see command line arguments. Returns its path. */
  file(name: string, content: string): string
}

/** How to start the program of an agent for one run. */
export interface CliPlan {
  readonly args: readonly string[]
  /**
   * The text to write to stdin, which is then closed. Null: `/dev/null`. Pass the prompt here, because every user can
   * see command line arguments.
   */
  readonly stdin: string | null
  readonly env?: Readonly<Record<string, string>>
  /** Files that the program must see when it is confined. */
  readonly readable?: readonly string[]
}

/** Maps the lines of one run. May throw for an unexpected line; the line then becomes an Unknown event. */
export interface LineMapping {
  line(line: JsonObject): Mapped
  /** Called once, after the last line. */
  end(): CliEnd
}

/**
 * The outcome of a run's lines. `done`: the terminal line arrived and reports success. Exit code 0 alone is not
 * success.
 */
export interface CliEnd {
  readonly done: boolean
  readonly finalText: string | null
  readonly mapped?: Mapped
}
