#include "offscreen.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EGL_NO_X11
#include <EGL/egl.h>
#include <EGL/eglext.h>


// Both libraries are loaded when asked for, so that the program starts where one is missing. They
// must not be loaded together: MuJoCo takes its OpenGL functions from the first that it finds.

typedef EGLDisplay (*GetDisplayFn)(EGLenum, void*, const EGLAttrib*);
typedef EGLDisplay (*GetDefaultDisplayFn)(EGLNativeDisplayType);
typedef EGLBoolean (*InitializeFn)(EGLDisplay, EGLint*, EGLint*);
typedef EGLBoolean (*TerminateFn)(EGLDisplay);
typedef EGLBoolean (*BindApiFn)(EGLenum);
typedef EGLBoolean (*ChooseConfigFn)(EGLDisplay, const EGLint*, EGLConfig*, EGLint, EGLint*);
typedef EGLContext (*CreateContextFn)(EGLDisplay, EGLConfig, EGLContext, const EGLint*);
typedef EGLBoolean (*DestroyContextFn)(EGLDisplay, EGLContext);
typedef EGLBoolean (*MakeCurrentFn)(EGLDisplay, EGLSurface, EGLSurface, EGLContext);

typedef void* (*OsmesaCreateFn)(unsigned, int, int, int, void*);
typedef unsigned char (*OsmesaMakeCurrentFn)(void*, void*, unsigned, int, int);
typedef void (*OsmesaDestroyFn)(void*);

typedef void (*ProcFn)(void);
typedef ProcFn (*GetProcAddressFn)(const char*);
typedef const unsigned char* (*GetStringFn)(unsigned);

#define OSMESA_RGBA      0x1908
#define GL_UNSIGNED_BYTE 0x1401
#define GL_RENDERER      0x1F01

struct Offscreen_ {
  void* library;
  int egl;  // 0: OSMesa
  GetProcAddressFn getProcAddress;

  // EGL
  EGLDisplay display;
  EGLContext context;
  TerminateFn terminate;
  DestroyContextFn destroyContext;
  MakeCurrentFn makeCurrent;

  // OSMesa; the drawing goes to framebuffer objects, the buffer only has to exist
  void* osmesa;
  OsmesaDestroyFn osmesaDestroy;
  unsigned char pixel[4 * 16 * 16];
};


// function of a library; ISO C has no cast from object to function pointer
static void load(void* function, void* library, const char* name, int* flg_missing) {
  void* symbol = dlsym(library, name);
  *flg_missing |= !symbol;
  memcpy(function, &symbol, sizeof(symbol));
}


// open a display of the platform and make a context current without surface: 1 on success
static int tryDisplay(Offscreen* o, EGLDisplay display) {
  static const EGLint attributes[] = {EGL_SURFACE_TYPE,
                                      EGL_PBUFFER_BIT,
                                      EGL_RENDERABLE_TYPE,
                                      EGL_OPENGL_BIT,
                                      EGL_RED_SIZE,
                                      8,
                                      EGL_GREEN_SIZE,
                                      8,
                                      EGL_BLUE_SIZE,
                                      8,
                                      EGL_ALPHA_SIZE,
                                      8,
                                      EGL_DEPTH_SIZE,
                                      24,
                                      EGL_NONE};
  InitializeFn initialize;
  BindApiFn bindApi;
  ChooseConfigFn chooseConfig;
  CreateContextFn createContext;
  int flg_missing = 0;
  load(&initialize, o->library, "eglInitialize", &flg_missing);
  load(&bindApi, o->library, "eglBindAPI", &flg_missing);
  load(&chooseConfig, o->library, "eglChooseConfig", &flg_missing);
  load(&createContext, o->library, "eglCreateContext", &flg_missing);
  load(&o->terminate, o->library, "eglTerminate", &flg_missing);
  load(&o->destroyContext, o->library, "eglDestroyContext", &flg_missing);
  load(&o->makeCurrent, o->library, "eglMakeCurrent", &flg_missing);
  if (flg_missing || display == EGL_NO_DISPLAY || !initialize(display, NULL, NULL)) {
    return 0;
  }

  // a context of desktop OpenGL, the fixed pipeline included
  EGLConfig config;
  EGLint nconfig = 0;
  if (chooseConfig(display, attributes, &config, 1, &nconfig) && nconfig > 0 &&
      bindApi(EGL_OPENGL_API)) {
    o->context = createContext(display, config, EGL_NO_CONTEXT, NULL);
    if (o->context != EGL_NO_CONTEXT) {
      if (o->makeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, o->context)) {
        o->display = display;
        return 1;
      }
      o->destroyContext(display, o->context);
    }
  }
  o->terminate(display);
  return 0;
}


// EGL: the default display first, then each device, then Mesa without any surface
static int openEgl(Offscreen* o) {
  o->library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!o->library) {
    return 0;
  }
  o->egl = 1;

  GetDisplayFn getPlatformDisplay;
  GetDefaultDisplayFn getDisplay;
  int flg_missing = 0;
  load(&getPlatformDisplay, o->library, "eglGetPlatformDisplay", &flg_missing);
  load(&getDisplay, o->library, "eglGetDisplay", &flg_missing);
  load(&o->getProcAddress, o->library, "eglGetProcAddress", &flg_missing);
  if (!flg_missing) {
    // devices: graphics cards, and Mesa's software rasterizer as the last
    EGLDeviceEXT device[16];
    EGLint ndevice = 0;
    PFNEGLQUERYDEVICESEXTPROC queryDevices =
        (PFNEGLQUERYDEVICESEXTPROC)o->getProcAddress("eglQueryDevicesEXT");
    if (queryDevices && queryDevices(16, device, &ndevice)) {
      for (int i = 0; i < ndevice; i++) {
        if (tryDisplay(o, getPlatformDisplay(EGL_PLATFORM_DEVICE_EXT, device[i], NULL))) {
          return 1;
        }
      }
    }
    if (tryDisplay(o,
                   getPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL)) ||
        tryDisplay(o, getDisplay(EGL_DEFAULT_DISPLAY))) {
      return 1;
    }
  }

  // out of the process again, lest MuJoCo finds it before OSMesa
  dlclose(o->library);
  o->library = NULL;
  return 0;
}


// OSMesa: software in main memory
static int openOsmesa(Offscreen* o) {
  static const char* const names[] = {"libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"};
  for (int i = 0; i < 3 && !o->library; i++) {
    o->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  }
  if (!o->library) {
    return 0;
  }
  o->egl = 0;

  OsmesaCreateFn create;
  OsmesaMakeCurrentFn makeCurrent;
  int flg_missing = 0;
  load(&create, o->library, "OSMesaCreateContextExt", &flg_missing);
  load(&makeCurrent, o->library, "OSMesaMakeCurrent", &flg_missing);
  load(&o->getProcAddress, o->library, "OSMesaGetProcAddress", &flg_missing);
  load(&o->osmesaDestroy, o->library, "OSMesaDestroyContext", &flg_missing);
  if (!flg_missing && (o->osmesa = create(OSMESA_RGBA, 24, 8, 0, NULL))) {
    if (makeCurrent(o->osmesa, o->pixel, GL_UNSIGNED_BYTE, 16, 16)) {
      return 1;
    }
    o->osmesaDestroy(o->osmesa);
  }
  dlclose(o->library);
  o->library = NULL;
  return 0;
}


Offscreen* offscreenOpen(char* error, size_t error_size) {
  Offscreen* o = calloc(1, sizeof(Offscreen));
  const char* wish = getenv("MUJOCO_GL");
  int flg_egl = !wish || strcmp(wish, "osmesa");
  int flg_osmesa = !wish || strcmp(wish, "egl");
  if (o && ((flg_egl && openEgl(o)) || (flg_osmesa && openOsmesa(o)))) {
    return o;
  }
  free(o);
  snprintf(error, error_size,
           "there is no OpenGL without a display, because %s did not start; install %s",
           !flg_osmesa ? "EGL (MUJOCO_GL=egl)"
           : !flg_egl  ? "OSMesa (MUJOCO_GL=osmesa)"
                       : "neither EGL nor OSMesa",
           !flg_osmesa ? "libegl1 and libgl1-mesa-dri" : "libosmesa6");
  return NULL;
}


const char* offscreenName(const Offscreen* offscreen) {
  return offscreen->egl ? "EGL" : "OSMesa";
}


const char* offscreenRenderer(const Offscreen* offscreen) {
  GetStringFn getString = (GetStringFn)offscreen->getProcAddress("glGetString");
  const unsigned char* name = getString ? getString(GL_RENDERER) : NULL;
  return name ? (const char*)name : "unknown";
}


void offscreenClose(Offscreen* offscreen) {
  if (!offscreen) {
    return;
  }
  if (offscreen->egl) {
    offscreen->makeCurrent(offscreen->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    offscreen->destroyContext(offscreen->display, offscreen->context);
    offscreen->terminate(offscreen->display);
  } else {
    offscreen->osmesaDestroy(offscreen->osmesa);
  }
  free(offscreen);
}
