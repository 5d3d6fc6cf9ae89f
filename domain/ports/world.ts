/** Milliseconds since the epoch. */
export interface Clock {
  now(): number
  /** Resolves after `ms`, or rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `ring` after `ms` unless the returned function is called before. Absent: callers use {@link sleep}. */
  alarm?(ms: number, ring: () => void): () => void
  /** Yields to other work of this thread. Absent: callers yield for one turn of the event loop. */
  giveWay?(): Promise<void>
}

/** The only source of randomness: salts, ids and jitter. */
export interface Random {
  bytes(length: number): Uint8Array
}

/** Known secret values. A reference is `secret:ku_` + 26 characters; see domain/secrets/redactor.ts. */
export interface Vault {
  /** The value of a named secret; null: neither the vault nor the environment has it. */
  get(name: string): Promise<string | null>
  set(name: string, value: string): Promise<void>
  /**
   * Removes a secret; false: no secret had the name. Its value is still redacted, and its references still resolve for
   * restoring versions of files. Tools get only current secrets.
   */
  remove(name: string): Promise<boolean>
  names(): Promise<readonly string[]>
  /** Replaced and removed values, which must still be redacted. The number is bounded. */
  retired(): Promise<readonly RetiredValue[]>
  /** Names of variables with referenced values. The values themselves are not stored. */
  held(): Promise<readonly string[]>
  /** Changes after any process sets or removes a secret. */
  stamp(): Promise<string>
  /** The HMAC key (32 bytes) of the references, one per installation. */
  referenceKey(): Promise<Uint8Array>
  /** Stores the values of references durably. Call before appending redacted text. Known references cost nothing. */
  remember(references: ReadonlyMap<string, string>): Promise<void>
  /**
   * The value of a reference, or null. Does not check whether a run may use the secret. Synchronous, because resolving
   * is pure.
   */
  resolve(reference: string): string | null
}

/** A former value of a secret. */
export interface RetiredValue {
  /** The secret's name; null: an earlier version of keepup stored the value without it. */
  readonly name: string | null
  readonly value: string
}

/** A piece of streamed text of a model, or of the output of a running call. Secrets in it are redacted. */
export type LivePiece = { readonly runId: string; readonly agentId: string; readonly turn: number } & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'output'; readonly toolCallId: string; readonly text: string }
)

/** Ephemeral messages outside the log. Losing a message is safe. */
export interface LiveFeed {
  publish(news: LivePiece): void
}
