import { FolderBusy, lockFolder } from '../../runtime/folder-lock.ts'

const FILE = 'build.lock'

/**
 * Runs `build`, while no other process or thread builds in the same folder. If two closed spans at
 * once, each would overwrite spans that the other has shared.
 * @throws Error if another one is under way
 */
export async function withBuildLock<T>(folder: string, build: () => Promise<T>): Promise<T> {
  const lock = take(folder)
  try {
    return await build()
  } finally {
    lock.close()
  }
}

function take(folder: string) {
  try {
    return lockFolder(folder, FILE)
  } catch (error) {
    if (!(error instanceof FolderBusy)) throw error
    throw new Error(`another build is under way in ${folder}`, { cause: error })
  }
}
