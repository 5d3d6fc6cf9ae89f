import type { ModelProvider } from '../../domain/ports/index.ts'

/** A provider that is made at its first call: its SDK is loaded only where a model of it is called. */
export function lateProvider(id: string, make: () => Promise<ModelProvider>): ModelProvider {
  let made: Promise<ModelProvider> | null = null
  return {
    id,
    call: async (request, how) => {
      made ??= make()
      return (await made).call(request, how)
    },
  }
}
