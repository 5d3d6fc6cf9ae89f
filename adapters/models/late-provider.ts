import type { ModelProvider } from '../../domain/ports/index.ts'

/** A provider that is created at its first call, so that its SDK is loaded only if needed. */
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
