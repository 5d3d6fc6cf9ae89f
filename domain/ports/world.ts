/** Milliseconds since the epoch. */
export interface Clock {
  now(): number
  /** Resolves after `ms`, or rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `ring` once `ms` have passed, unless the returned function is called before; absent: {@link sleep} serves. */
  alarm?(ms: number, ring: () => void): () => void
  /** Lets everything else that waits for this thread go on; absent: for one turn of the event loop. */
  giveWay?(): Promise<void>
}

/** The one source of randomness: salts, ids and jitter. */
export interface Random {
  bytes(length: number): Uint8Array
}

/** Known secret values. A reference is `secret:ku_` + 26 characters; see domain/secrets/redactor.ts. */
export interface Vault {
  /** The value of a named secret, or null where neither the vault nor the environment has it. */
  get(name: string): Promise<string | null>
  set(name: string, value: string): Promise<void>
  /**
   * False: there was none. The value stays hidden, and what references stand for is kept, so that versions of files are
   * restored as they were; a tool is given only what a name holds now.
   */
  remove(name: string): Promise<boolean>
  names(): Promise<readonly string[]>
  /** Values that were replaced or removed: still to be hidden. Bounded. */
  retired(): Promise<readonly string[]>
  /** Names of variables whose values references stand for: the values themselves are not kept. */
  held(): Promise<readonly string[]>
  /** Another text once a secret was set or removed, by any process. */
  stamp(): Promise<string>
  /** The per-install key (32 bytes) of the references' HMAC. */
  referenceKey(): Promise<Uint8Array>
  /** Keeps what references stand for, durably: call it before the redacted text is appended. Known ones cost nothing. */
  remember(references: ReadonlyMap<string, string>): Promise<void>
  /**
   * The value of a reference, or null; whether a run may use it is asked elsewhere. Synchronous, because resolving is
   * pure.
   */
  resolve(reference: string): string | null
}

/** Ephemeral news beside the log: streamed text, tool output. Losing it loses nothing. */
export interface LiveFeed {
  publish(news: { runId: string; agentId: string; turn: number; kind: 'text' | 'output'; text: string }): void
}
