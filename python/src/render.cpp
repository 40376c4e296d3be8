// Pictures without a display.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array.h"
#include "bind.h"
#include "error.h"
#include "memory.h"

struct Picture {
  std::shared_ptr<tbRenderer> of;
  int width, height;
};

// A camera from a number of the file or a tuple (lookat, distance, azimuth, elevation, fovy).
static bool camera_of(nb::handle given, tbCamera* camera) {
  if (given.is_none()) return false;
  *camera = tbDefaultCamera();
  if (nb::isinstance<nb::int_>(given)) {
    camera->id = nb::cast<int>(given);
    return true;
  }
  nb::tuple t = nb::cast<nb::tuple>(given);
  Reals lookat(t[0], 3, "lookat");
  for (int i = 0; i < 3; i++) camera->lookat[i] = lookat.data()[i];
  camera->distance = nb::cast<double>(t[1]);
  camera->azimuth = nb::cast<double>(t[2]);
  camera->elevation = nb::cast<double>(t[3]);
  camera->fovy = nb::cast<double>(t[4]);
  camera->id = -1;
  return true;
}

static nb::object draw(Picture& picture, Model& model, const std::vector<Data*>& worlds,
                       const std::vector<std::string>& labels, nb::handle camera,
                       double force_scale) {
  std::vector<tbRenderWorld> list;
  for (size_t i = 0; i < worlds.size(); i++) {
    model_of(model, *worlds[i]);
    tbRenderWorld world{};
    world.data = worlds[i]->get();
    world.label = i < labels.size() && !labels[i].empty() ? labels[i].c_str() : nullptr;
    list.push_back(world);
  }
  tbCamera from;
  bool given = camera_of(camera, &from);
  tbRenderOptions options{};
  options.force_scale = force_scale;
  size_t size = (size_t)picture.width * picture.height * 3;
  unsigned char* rgb = new unsigned char[size];
  nb::capsule owner(rgb, [](void* p) noexcept { delete[] static_cast<unsigned char*>(p); });
  tbError error;
  check(tb_render(picture.of.get(), model.get(), list.data(), (int)list.size(),
                  given ? &from : nullptr, &options, rgb, &error),
        error);
  return array_view(rgb, "uint8_t", {(size_t)picture.height, (size_t)picture.width, 3}, owner,
                    true);
}

static void write_png(const std::string& path, nb::list frames, int delay) {
  std::vector<nb::ndarray<const uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>> pictures;
  for (nb::handle frame : frames)
    pictures.push_back(
        nb::cast<nb::ndarray<const uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>>(frame));
  if (pictures.empty()) throw nb::value_error("frames: expected at least one picture");
  size_t height = pictures[0].shape(0), width = pictures[0].shape(1);
  for (auto& picture : pictures)
    if (picture.shape(0) != height || picture.shape(1) != width || picture.shape(2) != 3)
      throw nb::value_error("frames: expected pictures of one shape (height, width, 3)");
  tbError error;
  tbPng* png =
      tb_png_open(path.c_str(), (int)width, (int)height, (int)pictures.size(), delay, &error);
  if (!png) raise(error.code, error.message);
  tbResult result = TB_OK;
  for (size_t i = 0; i < pictures.size() && result == TB_OK; i++)
    result = tb_png_frame(png, pictures[i].data(), &error);
  int written = tb_png_close(png);
  check(result, error);
  if (written != (int)pictures.size()) raise(TB_ERROR_FILE, ("cannot write " + path).c_str());
}

void bind_render(nb::module_& m) {
  nb::class_<Picture> c(m, "_Picture");
  c.def(
      "__init__",
      [](Picture* self, int width, int height) {
        tbError error;
        tbRenderer* renderer = tb_renderer_new(width, height, &error);
        if (!renderer) raise(error.code, error.message);
        new (self) Picture{std::shared_ptr<tbRenderer>(renderer, tb_renderer_free), width, height};
      },
      nb::arg("width"), nb::arg("height"));
  c.def("draw", &draw, nb::arg("model"), nb::arg("worlds"), nb::arg("labels"),
        nb::arg("camera").none(), nb::arg("force_scale"));
  m.def(
      "force_scale",
      [](Model& model, Data& data) { return tb_force_scale(model_of(model, data), data.get()); },
      nb::arg("m"), nb::arg("d"),
      "Length of arrows, m per N, at which the weight of all bodies is half the scene.");
  m.def("_write_png", &write_png, nb::arg("path"), nb::arg("frames"), nb::arg("delay"));
}
