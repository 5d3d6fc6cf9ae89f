import type { OpenServices } from './owner/connect.ts'

// The composition root. Only api/process/host, embedded, memory and servers import concrete adapters.

/** Opens a data folder with the embedded adapters, or the servers that the settings name. */
export const openServices = (async (config, mode, { autoDrive }, own) => {
  const { onServers } = await import('./config/settings.ts')
  if (onServers(config)) {
    const { openOnServers } = await import('./servers/open-on-servers.ts')
    return openOnServers(config, mode, autoDrive, own)
  }
  const { openEmbedded } = await import('./embedded/open-embedded.ts')
  return openEmbedded(config, mode, autoDrive, own)
}) as OpenServices
