import type { SecretBoundary } from '../../../domain/ports/runtime.ts'

/** A boundary for tests without secrets. */
export const NO_SECRETS: SecretBoundary = {
  text: (text) => text,
  json: (value) => value,
  arguments: (_, args) => args,
  result: (value) => value,
  holdsKnown: () => false,
  stream: () => ({ push: (text) => text, end: () => '' }),
  texts: () => ({ push: (text) => [text], end: () => [] }),
  keep: async () => undefined,
  refresh: async () => undefined,
  resolve: async (args) => args,
}
