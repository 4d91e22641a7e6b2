import { readlink } from 'node:fs/promises'

const LOCALTIME = '/etc/localtime'
const ZONE = /\/zoneinfo\/(?:posix\/|right\/)?([A-Za-z0-9_+/-]{1,64})$/

/**
 * The host's time zone by its IANA name; UTC where the host does not say, as systemd does. `Intl` would tell, too, but
 * costs this daemon 7 MB. @see localtime(5)
 */
export async function hostTimeZone(path: string = LOCALTIME): Promise<string> {
  const target = await readlink(path).catch(() => '')
  return ZONE.exec(target)?.[1] ?? 'UTC'
}
